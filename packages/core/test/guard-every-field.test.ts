import { EventSchemas } from "@ag-ui/core/schemas";
import type { BaseEvent } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { faults, run } from "./guard-kit.ts";

type Json = Record<string, unknown>;

const common = { timestamp: 1, rawEvent: { of: "the framework" }, metadata: { a: 1 } };
const media = (source: object): object => ({ id: "p", source, metadata: { a: 1 } });
const parts = [
  { type: "text", id: "p", text: "hi", metadata: { a: 1 } },
  { type: "image", ...media({ type: "data", value: "AAAA", mimeType: "image/png" }) },
  { type: "audio", ...media({ type: "url", value: "https://a.example", mimeType: "audio/ogg" }) },
  {
    type: "document",
    ...media({ type: "file", value: "f", provider: "us", mimeType: "text/plain" }),
  },
];
const usage = [
  {
    provider: "us",
    model: "m",
    inputTokens: 1,
    outputTokens: 2,
    totalTokens: 3,
    reasoningTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
  },
];
const message = { metadata: { a: 1 }, encryptedValue: "secret", subagentRunId: "s" };
const messages = [
  { id: "1", role: "developer", content: "obey", name: "dev", ...message },
  { id: "2", role: "system", content: "obey", name: "sys", ...message },
  { id: "3", role: "user", content: parts, name: "ann", ...message },
  {
    id: "4",
    role: "assistant",
    content: "hi",
    name: "bot",
    toolCalls: [
      {
        id: "c4",
        type: "function",
        function: { name: "look", arguments: "{}" },
        encryptedValue: "secret",
        metadata: { a: 1 },
      },
    ],
    ...message,
  },
  { id: "5", role: "tool", toolCallId: "c4", content: "42", error: "late", ...message },
  { id: "6", role: "activity", activityType: "plan", content: { a: 1 }, ...message },
  { id: "7", role: "reasoning", content: "hm", ...message },
];
const interrupt = {
  id: "i",
  reason: "confirmation",
  message: "Sure?",
  toolCallId: "c",
  responseSchema: { type: "object" },
  expiresAt: "2030-01-01T00:00:00.000Z",
  metadata: { a: 1 },
  subagentRunId: "s",
};

const text = { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", name: "bot" };
const textEnd = { type: "TEXT_MESSAGE_END", messageId: "m" };
const call = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look" };
const callEnd = { type: "TOOL_CALL_END", toolCallId: "c" };
const span = { type: "REASONING_START", messageId: "t" };
const thought = { type: "REASONING_MESSAGE_START", messageId: "t", role: "reasoning" };
const thoughtEnd = { type: "REASONING_MESSAGE_END", messageId: "t" };
const spanEnd = { type: "REASONING_END", messageId: "t" };
const step = { type: "STEP_STARTED", stepName: "plan" };
const stepEnd = { type: "STEP_FINISHED", stepName: "plan" };
const subagent = { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" };
const subagentEnd = { type: "SUBAGENT_FINISHED", subagentRunId: "s" };
const activity = { messageId: "p", activityType: "plan" };
const ids = { threadId: "thread", runId: "run" };

/** Each type with all fields that it may have, in a run of which nothing has to be put right. */
const examples: readonly (readonly [before: Json[], event: Json, after: Json[]])[] = [
  [[], { type: "RUN_STARTED", ...ids, protocolVersion: "1.0", parentRunId: "p" }, []],
  [[], { type: "RUN_FINISHED", ...ids, result: { a: 1 }, outcome: { type: "success" }, usage }, []],
  [
    [call, callEnd],
    { type: "RUN_FINISHED", ...ids, outcome: { type: "success", pendingToolCallIds: ["c"] } },
    [],
  ],
  [
    [call, callEnd],
    { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [interrupt] } },
    [],
  ],
  [[], { type: "RUN_ERROR", message: "no", code: "no", usage }, []],
  [[], step, [stepEnd]],
  [[step], stepEnd, []],
  [[], text, [textEnd]],
  [[text], { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" }, [textEnd]],
  [[text], textEnd, []],
  [[], { ...call, parentMessageId: "m0" }, [callEnd]],
  [[call], { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" }, [callEnd]],
  [[call], callEnd, []],
  [
    [call, callEnd],
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "42", role: "tool" },
    [],
  ],
  [
    [call, callEnd],
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: parts },
    [],
  ],
  [[], { type: "STATE_SNAPSHOT", snapshot: { a: 1 } }, []],
  [
    [{ type: "STATE_SNAPSHOT", snapshot: { a: 1, b: { c: 2 } } }],
    {
      type: "STATE_DELTA",
      delta: [
        { op: "test", path: "/a", value: 1 },
        { op: "add", path: "/d", value: 3 },
        { op: "replace", path: "/a", value: 2 },
        { op: "copy", from: "/b", path: "/e" },
        { op: "move", from: "/b", path: "/f" },
        { op: "remove", path: "/a" },
      ],
    },
    [],
  ],
  [[], { type: "MESSAGES_SNAPSHOT", messages }, []],
  [[], { type: "ACTIVITY_SNAPSHOT", ...activity, content: { a: 1 }, replace: true }, []],
  [
    [{ type: "ACTIVITY_SNAPSHOT", ...activity, content: { a: 1 } }],
    { type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "add", path: "/b", value: 1 }] },
    [],
  ],
  [[], { type: "RAW", event: { a: 1 }, source: "us" }, []],
  [[], { type: "CUSTOM", name: "mark", value: { a: 1 } }, []],
  [[], span, [spanEnd]],
  [[span], thought, [thoughtEnd, spanEnd]],
  [
    [span, thought],
    { type: "REASONING_MESSAGE_CONTENT", messageId: "t", delta: "hm" },
    [thoughtEnd, spanEnd],
  ],
  [[span, thought], thoughtEnd, [spanEnd]],
  [[span], spanEnd, []],
  [
    [text, textEnd],
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "m", encryptedValue: "x" },
    [],
  ],
  [
    [call, callEnd],
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "tool-call", entityId: "c", encryptedValue: "x" },
    [],
  ],
  [
    [subagent, call, callEnd, text, textEnd],
    {
      type: "SUBAGENT_STARTED",
      subagentRunId: "s2",
      name: "helper",
      description: "helps",
      parentSubagentRunId: "s",
      parentToolCallId: "c",
      parentMessageId: "m",
    },
    [{ ...subagentEnd, subagentRunId: "s2" }, subagentEnd],
  ],
  [[subagent], { ...subagentEnd, result: { a: 1 }, outcome: { type: "success" } }, []],
  [[subagent], { ...subagentEnd, outcome: { type: "suspended", interruptIds: ["i"] } }, []],
  [[subagent], { type: "SUBAGENT_ERROR", subagentRunId: "s", message: "no", code: "no" }, []],
];

/** Chunks are sent as other events: only what is wrong with them is of interest here. */
const chunks: readonly Json[] = [
  { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "hi", role: "user", name: "ann" },
  {
    type: "TOOL_CALL_CHUNK",
    toolCallId: "c",
    toolCallName: "look",
    parentMessageId: "m",
    delta: "{}",
  },
  { type: "REASONING_MESSAGE_CHUNK", messageId: "t", delta: "hm" },
];

type Path = readonly (string | number)[];

/** The places of all values in an event, except those that say what it is. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const own = path.length === 0 || path.at(-1) === "type" || path.at(-1) === "op" ? [] : [path];
  return [...own, ...inner.flatMap(([key, part]) => pathsIn(part, [...path, key]))];
}

function withValue(value: unknown, [key, ...rest]: Path, wrong: unknown): unknown {
  if (key === undefined) return wrong;
  const copy: Json = Array.isArray(value)
    ? (value.slice() as unknown as Json)
    : { ...(value as Json) };
  copy[key] = withValue(copy[key], rest, wrong);
  return copy;
}

/** What the official schemas have against events, and what a client could not read at all. */
function badEvents(events: readonly BaseEvent[]): unknown[] {
  return events.flatMap((event) => {
    const parsed = EventSchemas.safeParse(JSON.parse(JSON.stringify(event)));
    return parsed.success ? [] : [{ event, why: parsed.error.message }];
  });
}

const wrongs: readonly unknown[] = [null, 7, -1, 1.5, true, "text", "", {}, [], [7], new Map()];

const nameOf = ({ type, outcome }: Json): string =>
  `${String(type)}${outcome ? ` (${(outcome as { type: string }).type})` : ""}`;

describe.for(
  examples.map(([before, event, after]) => [nameOf(event), before, event, after] as const),
)("%s", ([, before, event, after]) => {
  const whole = { ...event, ...common };
  const isStart = event.type === "RUN_STARTED";

  test("passes as the very object that it is", () => {
    const { events, guard } = run([...before, whole, ...after]);
    expect([...guard.repairs.keys()]).toEqual([]);
    expect(faults(events)).toEqual([]);
    expect(events[(isStart ? 0 : 1) + before.length]).toBe(whole);
  });

  test.for(pathsIn(whole).map((path) => [path.join("."), path] as const))(
    "is valid whatever %s is",
    ([, path]) => {
      for (const wrong of wrongs) {
        const odd = withValue(whole, path, wrong);
        const { events, guard } = run([...before, odd, ...after]);
        expect(badEvents(events)).toEqual([]);
        const isWrong = !EventSchemas.safeParse(odd).success;
        if (isWrong) expect(guard.repairs.size).toBeGreaterThan(0);
      }
    },
  );
});

describe.for(chunks.map((chunk) => [nameOf(chunk), chunk] as const))("%s", ([, chunk]) => {
  test.for(pathsIn({ ...chunk, ...common }).map((path) => [path.join("."), path] as const))(
    "is valid whatever %s is",
    ([, path]) => {
      for (const wrong of wrongs) {
        const { events } = run([withValue({ ...chunk, ...common }, path, wrong)]);
        expect(badEvents(events)).toEqual([]);
      }
    },
  );
});
