import { aggregateTokenUsage, EventType } from "@ag-ui/core";
import type { Interrupt, TokenUsage } from "@ag-ui/core";
import type { LooseEvent } from "./shapes.ts";
import { commonVersion, PROTOCOL_VERSION } from "../base/protocol-version.ts";
import { notJson, toJson } from "../json/to-json.ts";
import { interrupts as checkInterrupts, usage as checkUsage } from "./payloads.ts";
import type { Repairer } from "./repairs.ts";
import type { Json } from "../contract/agent.ts";

/** What the author gathered for the end of the run; read when the guard writes RUN_FINISHED. */
export interface RunEnding {
  interrupts: Interrupt[];
  usage: TokenUsage[];
  result?: unknown;
}

/** The run a start or an end belongs to. */
export interface NamedRun extends Repairer {
  readonly threadId: string;
  readonly runId: string;
}

/** The run whose terminal event is written, from what the author gathered. */
export interface EndingRun extends NamedRun {
  readonly ending: RunEnding;
  /** The calls that it leaves to the client. */
  pendingCalls(): readonly string[];
  /** Questions about calls, with the ids that clients know. */
  withCalls(interrupts: readonly Interrupt[]): readonly Interrupt[];
  /** Whether there is such a call, in this run or before it. */
  hasCall(id: string): boolean;
  /** Whether the run has a TOOL_CALL_START of it. */
  hasStarted(id: string): boolean;
}

/** RUN_STARTED of an agent that does not send it itself. */
export function runStarted(run: NamedRun, parentRunId: string | undefined): LooseEvent {
  const { threadId, runId } = run;
  const type = EventType.RUN_STARTED;
  const protocolVersion = PROTOCOL_VERSION;
  if (parentRunId === undefined) return { type, threadId, runId, protocolVersion };
  return { type, threadId, runId, parentRunId, protocolVersion };
}

/** The agent's own RUN_STARTED: under the ids of this run, and without the input, which only the agent may see. */
export function adoptStart(event: LooseEvent, run: NamedRun): LooseEvent {
  const own = withRunIds(event, run);
  // What the guard sends is never newer than this library.
  const protocolVersion = commonVersion(own.protocolVersion);
  if (own.input === undefined && own.protocolVersion === protocolVersion) return own;
  const { input: _, ...rest } = own;
  return { ...rest, protocolVersion };
}

/** The agent's own RUN_FINISHED, with what it lacks. */
export function adoptFinish(event: LooseEvent, run: EndingRun): LooseEvent {
  const own = withRunIds(event, run);
  const outcome = own.outcome === undefined ? outcomeOf(run) : adopted(own.outcome as Json, run);
  const usage = own.usage === undefined ? usageOf(run) : undefined;
  if (outcome === undefined && usage === undefined) return own;
  const whole: LooseEvent = { ...own };
  if (outcome !== undefined) whole.outcome = outcome;
  if (usage !== undefined) whole.usage = usage;
  return whole;
}

/** RUN_FINISHED of an agent that is done. */
export function finished(run: EndingRun): LooseEvent {
  const { threadId, runId } = run;
  const event: LooseEvent = { type: EventType.RUN_FINISHED, threadId, runId };
  const result = resultOf(run);
  if (result !== undefined) event.result = result;
  const outcome = outcomeOf(run);
  if (outcome !== undefined) event.outcome = outcome;
  return withUsage(event, run);
}

/** RUN_FINISHED of a run that was stopped. */
export function cancelled(run: EndingRun): LooseEvent {
  const { threadId, runId } = run;
  const outcome = { type: "cancelled" };
  return withUsage({ type: EventType.RUN_FINISHED, threadId, runId, outcome }, run);
}

/** RUN_ERROR. */
export function failed(run: EndingRun, { message, code }: RunFailure): LooseEvent {
  return withUsage({ type: EventType.RUN_ERROR, message, code }, run);
}

/** Why a run ends with an error. */
export interface RunFailure {
  readonly message: string;
  readonly code: string;
}

/** The event under the ids of this run, on a copy unless it has them. */
function withRunIds(event: LooseEvent, run: NamedRun): LooseEvent {
  const { threadId, runId } = run;
  const { threadId: givenThread = threadId, runId: givenRun = runId } = event;
  if (givenThread !== threadId || givenRun !== runId) run.repair("run-ids");
  else if (event.threadId !== undefined && event.runId !== undefined) return event;
  const own: LooseEvent = { ...event };
  own.threadId = threadId;
  own.runId = runId;
  return own;
}

function withUsage(event: LooseEvent, run: EndingRun): LooseEvent {
  const usage = usageOf(run);
  if (usage !== undefined) event.usage = usage;
  return event;
}

// The agent's own outcome, with the questions that were asked on its behalf. Nothing when it needs no change.
function adopted(outcome: Json, run: EndingRun): Json | undefined {
  const { type } = outcome;
  if (type !== "success" && type !== "interrupt") return undefined;
  const asked = interrupt(run);
  if (!asked || type === "success") return asked ?? completed(outcome, run);
  const named = outcome.interrupts as readonly Interrupt[];
  const known = new Set(named.map(({ id }) => id));
  const missing = (asked.interrupts as readonly Interrupt[]).filter(({ id }) => !known.has(id));
  return missing.length === 0 ? undefined : { ...outcome, interrupts: [...named, ...missing] };
}

function outcomeOf(run: EndingRun): Json | undefined {
  return interrupt(run) ?? completed({ type: "success" }, run);
}

// A success names the calls that wait: those that the agent named, unless middleware took them out, and those
// that are missing. By AG-UI's rule these are calls that the run has started, which a snapshot does not.
// Nothing when it does so already.
function completed(outcome: Json, run: EndingRun): Json | undefined {
  if (outcome.type !== "success") return undefined;
  const { pendingToolCallIds, ...rest } = outcome;
  const named = (pendingToolCallIds ?? []) as readonly string[];
  const left = named.filter((id) => run.hasCall(id));
  const missing = run.pendingCalls().filter((id) => !named.includes(id) && run.hasStarted(id));
  if (missing.length === 0 && left.length === named.length) return undefined;
  const ids = [...left, ...missing];
  return ids.length === 0 ? rest : { ...rest, pendingToolCallIds: ids };
}

function interrupt(run: EndingRun): Json | undefined {
  if (run.ending.interrupts.length === 0) return undefined;
  const interrupts = checkInterrupts(run.ending.interrupts, run);
  if (!Array.isArray(interrupts)) return undefined;
  return { type: "interrupt", interrupts: run.withCalls(interrupts as Interrupt[]) };
}

function usageOf(run: EndingRun): unknown {
  if (run.ending.usage.length === 0) return undefined;
  const entries = checkUsage(run.ending.usage, run);
  if (!Array.isArray(entries) || entries.length === 0) return undefined;
  // Labels that no entry had come back as undefined.
  return JSON.parse(JSON.stringify(aggregateTokenUsage(entries)));
}

function resultOf(run: EndingRun): unknown {
  const { result } = run.ending;
  if (result === undefined || result === null) return undefined;
  const value = toJson(result);
  if (value === notJson) run.repair("not-json");
  return value === notJson || value === null ? undefined : value;
}
