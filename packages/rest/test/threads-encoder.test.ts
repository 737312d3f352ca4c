import { createAgentHandler } from "@holodeck/agui";
import { EventType, silentLogger } from "@holodeck/agui-core";
import type { BaseEvent, Json, LogEntry } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import type { SseSource } from "@holodeck/agui-testing";
import { testEncoder, testProtocol } from "@holodeck/agui-testing/vitest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomRun } from "../../core/test/random-run.ts";
import { threads, threadsEncoder } from "../src/index.ts";
import { loadThreadSchemas } from "../src/threads/threads-schemas.ts";
import { kinds } from "./_threads-kit.ts";
import type { Event } from "./_threads-kit.ts";

const ids = { threadId: "thread-1", runId: "run-1" };
const schemas = await loadThreadSchemas({ idFormat: "any" });

function post(path: string, body?: Json): Request {
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  return new Request(
    `http://test.local${path}`,
    body === undefined ? { method: "POST" } : { ...init, body: JSON.stringify(body) },
  );
}

async function readAll(source: SseSource): Promise<Event[]> {
  const events: Event[] = [];
  for await (const { data } of readSse(source)) {
    events.push(schemas.event.parse(JSON.parse(data)) as Event);
  }
  return events;
}

testEncoder("threads", () => threadsEncoder(ids), {
  dropped: Object.values(EventType).filter(
    (type) => !/^(TEXT_MESSAGE_CONTENT|TOOL_CALL_(END|RESULT)|RUN_(FINISHED|ERROR))$/.test(type),
  ),
  parse: (chunk) => {
    const text = String(chunk);
    expect(text).toMatch(/^data: [^\n]+\n\n$/);
    return schemas.event.parse(JSON.parse(text.slice("data: ".length)));
  },
});

testProtocol("threads", {
  createHandler: (agent, options) =>
    createAgentHandler(agent, {
      ...options,
      onUnknownThread: "create",
      protocols: [threads({ idFormat: "any" })],
    }),
  start: ({ threadId }) => post("/chat", { message: "hi", thread_id: threadId }),
  stop: ({ threadId }) => post(`/threads/${threadId}/abort`),
  async *read(response) {
    for await (const { data } of readSse(response)) {
      const event = JSON.parse(data) as Event;
      yield { data: event, ends: event.event === "message_complete" || event.event === "error" };
    }
  },
});

/** What an encoder makes of events that come a second apart. */
async function tell(events: readonly (BaseEvent | Json)[]): Promise<Event[]> {
  const encoder = threadsEncoder(ids);
  const chunks = events.map((event, index) => {
    const at = 1_700_000_000_000 + index * 1_000;
    return encoder.encode({ from: index + 1, to: index + 1, at, event } as LogEntry);
  });
  return readAll(chunks.join(""));
}

const second = (index: number): string => new Date(1_700_000_000_000 + index * 1_000).toISOString();
const call = (toolCallId: string, args: string): Json[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "weather" },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
  { type: "TOOL_CALL_END", toolCallId },
];
const result = (toolCallId: string, content: unknown): Json => ({
  type: "TOOL_CALL_RESULT",
  messageId: `result of ${toolCallId}`,
  toolCallId,
  content,
});
const finished = { type: "RUN_FINISHED", ...ids };

describe("an event of the stream", () => {
  test("names its thread and the time it was sent", async () => {
    const events = await tell([
      { type: "RUN_STARTED", ...ids },
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hello" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      finished,
    ]);
    const base = { thread_id: "thread-1" };
    expect(events).toEqual([
      { event: "token", ...base, timestamp: second(2), token: "Hello", message_id: "m" },
      {
        event: "message_complete",
        ...base,
        timestamp: second(4),
        message: {
          id: "m",
          role: "assistant",
          content: "Hello",
          timestamp: second(1),
          tool_calls: [],
          metadata: {},
        },
        tokens_used: null,
      },
    ]);
  });

  test("shows a server tool from its whole arguments to its result", async () => {
    const [start, end, complete] = await tell([
      ...call("c", '{"city":"Bern"}'),
      result("c", '{"celsius":18}'),
      finished,
    ]);
    const about = { thread_id: "thread-1", tool_call_id: "c", tool_name: "weather" };
    const args = { city: "Bern" };
    expect(start).toEqual({
      event: "tool_start",
      ...about,
      timestamp: second(2),
      arguments: args,
    });
    const outcome = { result: { celsius: 18 }, execution_time_ms: 1_000 };
    expect(end).toEqual({ event: "tool_end", ...about, timestamp: second(3), ...outcome });
    expect((complete!.message as Json).tool_calls).toEqual([
      { id: "c", tool_name: "weather", arguments: args, error: null, ...outcome },
    ]);
  });

  test("shows a client tool under the execution its answer must name", async () => {
    const events = await tell([
      ...call("run-1-1", '{"city":"Bern"}'),
      { ...result("run-1-1", '"rain"'), metadata: { executionTimeMs: 7 } },
      finished,
    ]);
    expect(kinds(events)).toEqual([
      "tool_execution_request",
      "tool_execution_complete",
      "message_complete",
    ]);
    expect(events[0]).toMatchObject({
      execution_id: "run-1-1",
      tool_name: "weather",
      arguments: { city: "Bern" },
    });
    expect(events[1]).toMatchObject({ execution_id: "run-1-1" });
    expect(events[1]).not.toHaveProperty("error");
    expect(events[2]).toMatchObject({
      message: { tool_calls: [{ id: "run-1-1", result: "rain", execution_time_ms: 7 }] },
    });
  });

  test.for([
    ["text", "rain", "rain"],
    ["a string that is JSON", '"rain"', "rain"],
    ["a number", "18", 18],
    ["null", "null", null],
    ["an object with an error of its own", '{"error":"rain"}', { error: "rain" }],
    [
      "what only looks like a failure",
      '{"error":{"code":"a","message":"b"}}',
      { error: { code: "a", message: "b" } },
    ],
    ["content parts", [{ type: "text", text: "a" }], [{ type: "text", text: "a" }]],
  ])("gives back %s as a result", async ([, content, expected]) => {
    const [, end] = await tell([...call("c", ""), result("c", content)]);
    expect(end).toMatchObject({ event: "tool_end", result: expected });
    expect(end).not.toHaveProperty("error");
  });

  test("shows of a tool that failed what may be known, without a result", async () => {
    const content = '{"error":{"code":"timeout","message":"It took too long."}}';
    const events = await tell([
      ...call("c", "{}"),
      { ...result("c", content), metadata: { error: "timeout" } },
      ...call("run-1-1", "{}"),
      { ...result("run-1-1", content), metadata: { error: "timeout" } },
      finished,
    ]);
    const failure = { error: "It took too long." };
    expect(events[1]).toMatchObject({ event: "tool_end", result: null, ...failure });
    expect(events[3]).toMatchObject({ event: "tool_execution_complete", ...failure });
    expect(events[4]).toMatchObject({
      message: {
        tool_calls: [
          { id: "c", result: null, ...failure },
          { id: "run-1-1", result: null, ...failure },
        ],
      },
    });
  });

  test.for([["[1]"], ["nonsense {"], [""], ["null"]])(
    "has an object for arguments, also for %j",
    async ([args]) => {
      const [start] = await tell(call("c", args!));
      expect(start).toMatchObject({ event: "tool_start", arguments: {} });
    },
  );

  test("is for the assistant's text only", async () => {
    const events = await tell([
      { type: "TEXT_MESSAGE_START", messageId: "u", role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "u", delta: "not mine" },
      { type: "TEXT_MESSAGE_START", messageId: "m" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "mine" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "" },
      finished,
    ]);
    expect(events).toMatchObject([{ token: "mine" }, { message: { content: "mine" } }]);
  });

  test("is for a message that an assistant has begun, though with a tool call", async () => {
    const events = await tell([
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "f", parentMessageId: "m" },
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "mine" },
      finished,
    ]);
    expect(events).toMatchObject([{ token: "mine" }, { message: { content: "mine" } }]);
  });

  test("sums up what the run has cost", async () => {
    const usage = [
      { inputTokens: 10, outputTokens: 5, totalTokens: 16 },
      { inputTokens: 1, outputTokens: 2 },
    ];
    expect(await tell([{ ...finished, usage }])).toMatchObject([
      { tokens_used: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 19 } },
    ]);
  });

  test.for([
    ["invalid-request", "validation", false],
    ["timeout", "timeout", true],
    ["agent-error", "llm", true],
    ["openai/overloaded", "llm", true],
    ["tool-error", "tool", true],
    ["unknown-tool", "tool", true],
    ["capacity-exceeded", "capacity", true],
    ["rate-limited", "capacity", true],
    ["thread-busy", "capacity", true],
    ["store-unavailable", "internal", true],
    ["shutting-down", "internal", true],
    ["run-lost", "internal", true],
    ["event-too-large", "internal", false],
    ["__proto__", "internal", false],
  ] as const)("gives %s the type %s", async ([code, type, recoverable]) => {
    expect(await tell([{ type: "RUN_ERROR", message: "No.", code }])).toEqual([
      {
        event: "error",
        thread_id: "thread-1",
        timestamp: second(0),
        error_type: type,
        error_message: "No.",
        recoverable,
        code,
      },
    ]);
  });

  test("reports that a stopped run was cancelled, and is its last", async () => {
    const events = await tell([{ ...finished, outcome: { type: "cancelled" } }]);
    expect(events).toMatchObject([{ event: "error", error_type: "cancelled", recoverable: false }]);
  });
});

test("any run is sent in events that are valid, and ends with its text", async () => {
  const numRuns = Number(process.env.THREADS_RUNS ?? 60);
  await fc.assert(
    fc.asyncProperty(randomRun, async (script) => {
      const handler = createAgentHandler(
        async function* () {
          yield* script as never[];
        },
        { protocols: [threads()], logger: silentLogger },
      );
      const response = await handler.fetch(post("/chat", { message: "hi" }));
      const events = await readAll(response);
      const ends = events.filter(({ event }) => event === "message_complete" || event === "error");
      expect(ends).toEqual([events.at(-1)]);
      if (events.at(-1)?.event !== "message_complete") return;
      const said = new Map<string, string>();
      for (const { event, token, message_id: id } of events) {
        if (event === "token") said.set(String(id), (said.get(String(id)) ?? "") + String(token));
      }
      const { content } = events.at(-1)!.message as { content: string };
      expect(content.split("").toSorted()).toEqual(
        [...said.values()].join("").split("").toSorted(),
      );
      const path = `http://test.local/threads/${response.headers.get("x-thread-id")}`;
      const thread = schemas.thread.parse(await (await handler.fetch(new Request(path))).json());
      const { message_history: history } = thread as { message_history: { timestamp: string }[] };
      const times = history.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted());
      await handler.close();
    }),
    { numRuns },
  );
});

test("writes any token as JSON does, whichever agent sends it and when", () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  const text = fc.oneof(fc.string({ unit, minLength: 1 }), fc.string({ minLength: 1 }));
  const said = fc.record({
    id: fc.oneof(fc.constantFrom("a", "b"), text),
    delta: text,
    at: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(said), text, (tokens, threadId) => {
      const encoder = threadsEncoder({ threadId, runId: "run-1" });
      for (const [index, { id, delta, at }] of tokens.entries()) {
        const event = { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta };
        const token = {
          event: "token",
          thread_id: threadId,
          timestamp: new Date(at).toISOString(),
          token: delta,
          message_id: id,
        };
        const frame = encoder.encode({ event, from: index, to: index + 1, at });
        expect(frame).toBe(`data: ${JSON.stringify(token)}\n\n`);
      }
    }),
  );
});

test("makes of several tokens at once what it makes of each", () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  const deltas = fc.array(fc.oneof(fc.string({ unit }), fc.string()), { minLength: 2 });
  const type = fc.constantFrom(EventType.TEXT_MESSAGE_CONTENT, EventType.REASONING_MESSAGE_CONTENT);
  const part = fc.oneof(
    fc.record({ type, messageId: fc.constantFrom("a", "b") }),
    fc.constant({ type: EventType.TOOL_CALL_ARGS, toolCallId: "c" }),
  );
  const ending = [
    { type: EventType.TEXT_MESSAGE_END, messageId: "a" },
    { type: EventType.TOOL_CALL_END, toolCallId: "c" },
    { type: EventType.RUN_FINISHED, threadId: "thread-1", runId: "run-1" },
  ];
  const beginning = [
    { type: EventType.RUN_STARTED, threadId: "thread-1", runId: "run-1" },
    { type: EventType.TEXT_MESSAGE_START, messageId: "a", role: "assistant" },
    { type: EventType.TEXT_MESSAGE_START, messageId: "b", role: "user" },
    { type: EventType.TOOL_CALL_START, toolCallId: "c", toolCallName: "look" },
  ];
  fc.assert(
    fc.property(part, deltas, (of, said) => {
      const [single, whole] = [threadsEncoder(ids), threadsEncoder(ids)];
      const entry = (event: BaseEvent): LogEntry => ({ from: 1, to: 1, at: 1, event });
      const tell = (encoder: typeof single, events: BaseEvent[]): unknown[] =>
        events.map((event) => encoder.encode(entry(event)));
      tell(single, beginning);
      tell(whole, beginning);
      const each = tell(
        single,
        said.map((delta) => ({ ...of, delta })),
      );
      const line = entry({ ...of, delta: said.join("") });
      expect(whole.encodeDeltas!(line, said)).toBe(each.join(""));
      expect(tell(whole, ending)).toEqual(tell(single, ending));
    }),
  );
});
