import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { createReducer } from "@holodeck/agui-core";
import type { Answer } from "./read/ask.ts";
import type { CheckId } from "./report/catalogue.ts";
import { createChunks } from "./rules/chunks.ts";
import { createDocuments } from "./read/documents.ts";
import type { Findings } from "./report/findings.ts";
import { checkEncryptedValues } from "./rules/encrypted-values.ts";
import { findLeak } from "./rules/leaks.ts";
import { createRunOrder } from "./rules/run-order.ts";
import { createMessageIds } from "./rules/message-ids.ts";
import { checkForOldClient } from "./rules/old-clients.ts";
import { createParts } from "./rules/parts.ts";
import { createEventReader } from "./read/read-events.ts";
import { readFrames } from "./read/read-frames.ts";
import type { RunInput } from "./read/run-input.ts";
import { paceOf } from "./rules/timing.ts";
import type { Made, Pace } from "./rules/timing.ts";
import { createTools } from "./rules/tools.ts";
import { isRecord } from "@holodeck/agui-core/internal";
import { toShownText } from "./types.ts";
import type { ReadEvent, CheckReport, WireEvent } from "./types.ts";

/** A run that was asked for, and what came. */
export interface AnsweredRun {
  /** How the report names it, as `the first run`. */
  readonly name: string;
  readonly input: RunInput;
  readonly answer: Answer;
}

/** What the next request needs to know about a run. */
export interface ExaminedRun {
  readonly terminal: WireEvent | undefined;
  readonly version: string | undefined;
  readonly pace: Pace;
  readonly messages: readonly Message[];
  readonly pendingCalls: readonly string[];
}

// Without every event these cannot be decided: what seems missing may have been in the lost one.
const needWhole: ReadonlySet<CheckId> = new Set([
  "starts",
  "ids",
  "one-end",
  "text",
  "tool-calls",
  "tool-args",
  "tool-results",
  "reasoning",
  "steps",
  "subagents",
  "chunks",
  "state",
  "activities",
]);

/** Holds one answered run against every rule for streams. */
export function examineRun(run: AnsweredRun, findings: Findings, path: string): ExaminedRun {
  const { name, input, answer } = run;
  const report: CheckReport = {
    show: findings.show,
    break: (id, seen) => findings.break(id, seen, name),
  };
  const { frames, isGarbled } = readFrames(answer.bytes, report);
  const reader = createEventReader(report);
  const events = frames.flatMap((frame) => reader.read(frame) ?? []);
  const isWhole = !isGarbled && !reader.isGarbled;
  const strict: CheckReport = {
    show: report.show,
    break: (id, seen) => {
      if (isWhole || !needWhole.has(id)) report.break(id, seen);
    },
  };
  const examined = examineEvents(events, { input, report: strict, path });
  examineEnd(answer, examined.terminal, report);
  if (events.length > 0 && reader.version === undefined) {
    findings.exempt("version", "It uses 0.0.x, which has no version.");
  }
  const pace = paceOf(answer, madeOf(frames.map(({ data }) => data)));
  return { ...examined, version: reader.version, pace };
}

function examineEvents(
  events: readonly ReadEvent[],
  { input, report, path }: { input: RunInput; report: CheckReport; path: string },
): Omit<ExaminedRun, "version" | "pace"> {
  const lifecycle = createRunOrder(input, report);
  const parts = createParts(report);
  const chunks = createChunks(parts, report);
  const history = input.messages;
  const tools = createTools(history.flatMap(callsOf), report);
  const documents = createDocuments(input.state, report);
  const ids = createMessageIds(
    history.map(({ id }) => id),
    report,
  );
  const reducer = createReducer(history);
  for (const read of events) {
    if (!lifecycle.admit(read)) continue;
    parts.take(read);
    const chunk = chunks.take(read) ?? undefined;
    tools.take(read, chunk);
    documents.take(read);
    checkEncryptedValues(read, report);
    ids.take(read, chunk);
    if (input.protocolVersion === undefined) checkForOldClient(read, report);
    if (read.event.type === EventType.RUN_ERROR) examineError(read, report, path);
    reducer.apply(read.event as unknown as BaseEvent);
  }
  lifecycle.finish();
  return {
    terminal: lifecycle.terminal,
    messages: reducer.messages,
    pendingCalls: tools.pending(),
  };
}

function callsOf(message: Message): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
}

function examineError({ event, line }: ReadEvent, report: CheckReport, path: string): void {
  report.show("run-error");
  report.show("error-leaks");
  if (toShownText(event["message"]).trim() === "") report.break("run-error", `No message: ${line}`);
  const leak = findLeak(JSON.stringify([event["message"], event["code"]]), path);
  if (leak !== undefined) report.break("error-leaks", `${leak}, in ${line}`);
}

function examineEnd(answer: Answer, terminal: WireEvent | undefined, report: CheckReport): void {
  // A stream that broke off before its terminal event lacks that event; one fault is enough.
  if (!terminal) return;
  report.show("closes");
  if (answer.end === "cut") report.break("closes", "The connection was cut after the end.");
  if (answer.end === "open") report.break("closes", "The connection stayed open after the end.");
}

function madeOf(frames: readonly string[]): Made {
  const times: number[] = [];
  let deltas = 0;
  for (const data of frames) {
    const [, time] = /"timestamp":\s*(\d{12,14})(?=[\s,}])/.exec(data) ?? [];
    if (time !== undefined) times.push(Number(time));
    if (data.includes('"delta"')) deltas += 1;
  }
  return { times, deltas };
}

/** How a run ended: its outcome, or `error`. */
export function outcomeOf(terminal: WireEvent | undefined): string {
  if (!terminal) return "none";
  if (terminal.type === EventType.RUN_ERROR) return "error";
  const { outcome } = terminal;
  return isRecord(outcome) ? toShownText(outcome["type"]) : "success";
}
