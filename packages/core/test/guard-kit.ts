import { EventType } from "@ag-ui/core";
import type { BaseEvent, JsonPatch } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { transformChunks, verifyEvents } from "@ag-ui/client";
import { verifyEvents as verifyEvents0 } from "ag-ui-client-0";
import jsonPatch from "fast-json-patch";
import { from } from "rxjs";
import { expect } from "vitest";
import { createGuard } from "../src/guard/guard.ts";
import type { Guard, GuardOptions, RunEnding } from "../src/guard/guard.ts";
import type { StateTracker } from "../src/guard/state-tracker.ts";

/** The smallest tracker that keeps the contract. */
export function tracker(initial: unknown = {}): StateTracker {
  let value = initial;
  let synced = false;
  return {
    get value() {
      return value;
    },
    get synced() {
      return synced;
    },
    snapshot(next) {
      value = next;
      synced = true;
    },
    delta(operations: JsonPatch) {
      try {
        const copy = structuredClone(operations) as Parameters<typeof jsonPatch.applyPatch>[1];
        value = jsonPatch.applyPatch(value, copy, true, false).newDocument;
        return true;
      } catch {
        return false;
      }
    },
  };
}

export interface Run {
  guard: Guard;
  events: BaseEvent[];
  state: StateTracker;
  ending: RunEnding;
}

export function startGuard(options: Partial<GuardOptions> = {}): Run {
  const events: BaseEvent[] = [];
  const state = options.state ?? tracker();
  const ending: RunEnding = options.ending ?? { interrupts: [], usage: [] };
  const guard = createGuard({
    threadId: "thread",
    runId: "run",
    emit: (event) => events.push(event),
    ...options,
    state,
    ending,
  });
  return { guard, events, state, ending };
}

/** What a whole run looks like from outside. */
export function run(values: readonly unknown[], options: Partial<GuardOptions> = {}): Run {
  const started = startGuard(options);
  for (const value of values) started.guard.push(value);
  started.guard.complete();
  return started;
}

/** Everything the official verifiers and schemas have against a stream. */
export function faults(events: readonly BaseEvent[]): string[] {
  const found: string[] = [];
  const note = (who: string) => (error: unknown) => found.push(`${who}: ${String(error)}`);
  // Each client comes with an rxjs of its own; only the types mind.
  // oxlint-disable-next-line typescript/no-explicit-any
  const source: any = from(events);
  verifyEvents()(source).subscribe({ error: note("1.0.0") });
  verifyEvents0()(source).subscribe({ error: note("0.0.59") });
  for (const event of events) {
    const parsed = EventSchemas.safeParse(JSON.parse(JSON.stringify(event)));
    if (!parsed.success) found.push(`${JSON.stringify(event)}: ${parsed.error.message}`);
  }
  const terminals = events.filter(isTerminal);
  if (terminals.length !== 1) found.push(`${terminals.length} terminal events`);
  if (events.length > 0 && !isTerminal(events.at(-1)!)) found.push("something after the end");
  return found;
}

/** What the official client makes of chunks. */
export function expandOfficially(events: readonly unknown[]): unknown[] {
  const expanded: unknown[] = [];
  // oxlint-disable-next-line typescript/no-explicit-any
  const source: any = from(events);
  transformChunks()(source).subscribe((event) => expanded.push(event));
  return expanded;
}

function isTerminal({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR;
}

// A few events to build runs from.
export const started: Record<string, unknown> = {
  type: "RUN_STARTED",
  threadId: "thread",
  runId: "run",
  protocolVersion: "1.1",
};
export const finished: Record<string, unknown> = {
  type: "RUN_FINISHED",
  threadId: "thread",
  runId: "run",
};
export const start: Record<string, unknown> = {
  type: "TEXT_MESSAGE_START",
  messageId: "m",
  role: "assistant",
};
export const content: Record<string, unknown> = {
  type: "TEXT_MESSAGE_CONTENT",
  messageId: "m",
  delta: "hi",
};
export const end: Record<string, unknown> = { type: "TEXT_MESSAGE_END", messageId: "m" };
export const call: Record<string, unknown> = {
  type: "TOOL_CALL_START",
  toolCallId: "c",
  toolCallName: "search",
};
export const args: Record<string, unknown> = {
  type: "TOOL_CALL_ARGS",
  toolCallId: "c",
  delta: "{}",
};
export const callEnd: Record<string, unknown> = { type: "TOOL_CALL_END", toolCallId: "c" };
export const result: Record<string, unknown> = {
  type: "TOOL_CALL_RESULT",
  messageId: "r",
  toolCallId: "c",
  content: "ok",
};
export const step: Record<string, unknown> = { type: "STEP_STARTED", stepName: "plan" };
export const stepEnd: Record<string, unknown> = { type: "STEP_FINISHED", stepName: "plan" };
export const subagent: Record<string, unknown> = {
  type: "SUBAGENT_STARTED",
  subagentRunId: "s",
  name: "helper",
};
export const subagentEnd: Record<string, unknown> = {
  type: "SUBAGENT_FINISHED",
  subagentRunId: "s",
};

/** What lies between the first and the last event, and what was repaired; always valid. */
export function body(...values: unknown[]): { events: BaseEvent[]; kinds: string[] } {
  const { events, guard } = run(values);
  expect(faults(events)).toEqual([]);
  return { events: events.slice(1, -1), kinds: [...guard.repairs.keys()] };
}

export function types(events: readonly BaseEvent[]): string[] {
  return events.map((event) => event.type);
}
