import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Chunk, Encoder, LogEntry } from "@holodeck/agui-core";
import { createParser } from "eventsource-parser";
import { eventExamples, exampleRun } from "../../event-examples.ts";

export type CreateEncoder = () => Encoder;

const start = exampleRun[0]!;
const end = eventExamples.RUN_FINISHED;

/** Valid logs that together hold every kind of event. */
export const exampleLogs: readonly (readonly LogEntry[])[] = [
  toLog(exampleRun),
  toLog([start, eventExamples.RUN_ERROR]),
  toLog([start, eventExamples.TEXT_MESSAGE_CHUNK, end]),
  toLog([start, eventExamples.TOOL_CALL_CHUNK, end]),
  toLog([start, eventExamples.REASONING_MESSAGE_CHUNK, end]),
  // Those of the run above belong to a subagent, which is a reason to drop them.
  toLog([
    start,
    { type: EventType.STEP_STARTED, stepName: "plan" },
    { type: EventType.STEP_FINISHED, stepName: "plan" },
    end,
  ]),
];

/** What an encoder may meet at the edges of the protocol. */
export const oddLogs: Readonly<Record<string, readonly LogEntry[]>> = {
  "empty strings": toLog([
    start,
    { type: EventType.TEXT_MESSAGE_START, messageId: "" },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "", delta: "" },
    { type: EventType.TEXT_MESSAGE_END, messageId: "" },
    { type: EventType.TOOL_CALL_START, toolCallId: "", toolCallName: "" },
    { type: EventType.TOOL_CALL_RESULT, messageId: "", toolCallId: "", content: "" },
    { type: EventType.CUSTOM, name: "", value: "" },
    end,
  ]),
  "line breaks and lone surrogates": toLog(
    ["\r\n\r\n", "\n\ndata: x\n\n", "\u2028\u2029\u0000\u0085", "\ud83c", "\udf26", "\ufeff"].map(
      (delta) => ({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m\r\nid: 9", delta }),
    ),
  ),
  "nothing where something may be": toLog([
    { type: EventType.STATE_SNAPSHOT, snapshot: null },
    { type: EventType.STATE_DELTA, delta: [] },
    { type: EventType.RAW, event: null },
    { type: EventType.CUSTOM, name: "n", value: null },
    { type: EventType.MESSAGES_SNAPSHOT, messages: [] },
    { type: EventType.ACTIVITY_SNAPSHOT, messageId: "a", activityType: "t", content: {} },
    { type: EventType.TOOL_CALL_RESULT, messageId: "r", toolCallId: "c", content: [] },
    { type: EventType.RUN_ERROR, message: "" },
  ]),
  "things without a beginning": toLog([
    eventExamples.TEXT_MESSAGE_CONTENT,
    eventExamples.TEXT_MESSAGE_END,
    eventExamples.TOOL_CALL_ARGS,
    eventExamples.TOOL_CALL_RESULT,
    eventExamples.REASONING_MESSAGE_CONTENT,
    eventExamples.STEP_FINISHED,
    eventExamples.SUBAGENT_FINISHED,
    eventExamples.ACTIVITY_DELTA,
    end,
  ]),
  "odd keys": toLog([
    {
      type: EventType.STATE_SNAPSHOT,
      snapshot: JSON.parse('{"__proto__":{"a":1},"constructor":1,"toJSON":"x"}') as unknown,
    },
  ]),
  "deep nesting": toLog([{ type: EventType.CUSTOM, name: "n", value: nest(500) }]),
  "a type of tomorrow": toLog([
    JSON.parse('{"type":"TOMORROW","messageId":"m"}') as BaseEvent,
    { ...end, outcome: { type: "tomorrow" } },
  ]),
};

/** Deltas that a store has merged: the entry covers several offsets. */
export const mergedLog: readonly LogEntry[] = [
  { from: 1, to: 1, at: 0, event: start },
  {
    from: 2,
    to: 2,
    at: 0,
    event: { type: EventType.TEXT_MESSAGE_START, messageId: "m", role: "assistant" },
  },
  {
    from: 3,
    to: 5,
    at: 0,
    event: { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m", delta: "abcdef" },
    cuts: [1, 3, 6],
  },
];

/** As above, of every kind of delta and with text that has to be written otherwise than it is. */
export const lineLogs: readonly (readonly LogEntry[])[] = [
  [eventExamples.TEXT_MESSAGE_START, eventExamples.TEXT_MESSAGE_CONTENT],
  [eventExamples.REASONING_MESSAGE_START, eventExamples.REASONING_MESSAGE_CONTENT],
  [eventExamples.TOOL_CALL_START, eventExamples.TOOL_CALL_ARGS],
].flatMap(([opening, content]) =>
  [
    ["a", "b"],
    ["a", "", "\n\n", '"', "\ud83c", "\udf26", "\u2028"],
    ["", "a"],
    ["é", "漢", "🌦"],
  ].map((deltas) => {
    const { type, messageId, toolCallId } = content as BaseEvent;
    const id = messageId === undefined ? { toolCallId } : { messageId };
    let end = 0;
    return [
      { from: 1, to: 1, at: 0, event: start },
      { from: 2, to: 2, at: 0, event: opening as BaseEvent },
      {
        from: 3,
        to: 2 + deltas.length,
        at: 0,
        event: { type, ...id, delta: deltas.join("") },
        cuts: deltas.map((delta) => (end += delta.length)),
      },
    ];
  }),
);

/** What was merged into an entry. */
export function deltasOf({ event, cuts = [] }: LogEntry): string[] {
  const text = event.delta as string;
  return cuts.map((end, index) => text.slice(cuts[index - 1] ?? 0, end));
}

export function chunkText(chunks: readonly Chunk[]): string {
  return chunks
    .map((chunk) => (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1")))
    .join("");
}

/** The bytes an encoder makes of a log, entry by entry. */
export function encodeLog(encoder: Encoder, log: readonly LogEntry[]): Chunk[] {
  return log.map((entry) => encoder.encode(entry));
}

/** The kinds of events an encoder has a word for. */
export function mappedKinds(createEncoder: CreateEncoder): Set<EventType> {
  const kinds = new Set<EventType>();
  for (const log of exampleLogs) {
    const chunks = encodeLog(createEncoder(), log);
    for (const [index, chunk] of chunks.entries()) {
      if (chunk.length > 0) kinds.add(log[index]!.event.type);
    }
  }
  return kinds;
}

/** How many server-sent events a chunk holds. */
export function countSseEvents(chunk: Chunk): number {
  let count = 0;
  const parser = createParser({ onEvent: () => count++ });
  parser.feed(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
  return count;
}

function toLog(events: readonly BaseEvent[]): readonly LogEntry[] {
  return events.map((event, index) => {
    const entry = { from: index + 1, to: index + 1, at: 1_760_000_000_000 + index, event };
    // The log is shared: an encoder that writes into it throws here.
    return freeze(structuredClone(entry));
  });
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

function nest(depth: number): unknown {
  let value: unknown = "leaf";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}
