import type { AgentEvent, BaseEvent, LogEntry } from "@holodeck/agui-core";
import { testEncoder, testProtocol } from "@holodeck/agui-testing/vitest";
import type { ProtocolFrame } from "@holodeck/agui-testing/vitest";
import { createAgentHandler } from "@holodeck/agui";
import { collect, scriptedAgent } from "@holodeck/agui-testing";
import { silentLogger } from "@holodeck/agui-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rest, restSseEncoder } from "../src/index.ts";
import type { ChatResponse } from "../src/index.ts";
import { framesOf, sessionId } from "./_kit.ts";
import type { Frame } from "./_kit.ts";

const numRuns = Number(process.env.REST_RUNS ?? 60);

testEncoder("REST over SSE", () => restSseEncoder({ requestId: "q", instance: "/x" }), {
  // REST speaks of text and tools. What a call came to is told by its result, not by its end.
  dropped: [
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_END",
    "STEP_STARTED",
    "STEP_FINISHED",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "MESSAGES_SNAPSHOT",
    "ACTIVITY_SNAPSHOT",
    "ACTIVITY_DELTA",
    "RAW",
    "CUSTOM",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_ENCRYPTED_VALUE",
    "REASONING_END",
    "SUBAGENT_STARTED",
    "SUBAGENT_FINISHED",
    "SUBAGENT_ERROR",
    // A log holds none of these; they are expanded before.
    "TEXT_MESSAGE_CHUNK",
    "TOOL_CALL_CHUNK",
    "REASONING_MESSAGE_CHUNK",
  ],
  parse(chunk) {
    const frames = String(chunk).split("\n\n");
    if (frames.pop() !== "") throw new SyntaxError("The last frame has no end.");
    for (const frame of frames) {
      const [event, data, ...more] = frame.split("\n");
      if (!event?.startsWith("event: ") || !data?.startsWith("data: ") || more.length > 0) {
        throw new SyntaxError(`Not a frame: ${frame}`);
      }
      JSON.parse(data.slice(6));
    }
  },
});

testProtocol("rest", {
  createHandler: (agent, options) =>
    createAgentHandler({ helper: agent }, { ...options, protocols: [rest()] }),
  start: () => ask("/chat/stream"),
  async *read(response): AsyncGenerator<ProtocolFrame> {
    for await (const { event, data } of framesOf(response)) {
      yield { data: { event, ...data }, ends: event === "stream_end" || event === "error" };
    }
  },
});

function ask(path: string): Request {
  return new Request(`http://test.local/agent/helper${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "Hi", session_id: sessionId }),
  });
}

// What an agent may say, in any order: the guard makes a valid run of it.
const say = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.record({
    type: fc.constant("TEXT_MESSAGE_START"),
    messageId: fc.constantFrom("m1", "m2"),
    role: fc.constantFrom("assistant", "assistant", "user", "system"),
  }),
  fc.record({
    type: fc.constant("TEXT_MESSAGE_CONTENT"),
    messageId: fc.constantFrom("m1", "m2"),
    delta: fc.string({ maxLength: 5 }),
  }),
  fc.record({
    type: fc.constant("TEXT_MESSAGE_END"),
    messageId: fc.constantFrom("m1", "m2"),
  }),
  fc.record({
    type: fc.constant("TOOL_CALL_START"),
    toolCallId: fc.constantFrom("c1", "c2", "c3"),
    toolCallName: fc.constantFrom("add", "paint"),
  }),
  fc.record({
    type: fc.constant("TOOL_CALL_ARGS"),
    toolCallId: fc.constantFrom("c1", "c2", "c3"),
    delta: fc.constantFrom("{", "}", "{}", '{"a":1}', "nonsense"),
  }),
  fc.record({ type: fc.constant("TOOL_CALL_END"), toolCallId: fc.constantFrom("c1", "c2", "c3") }),
  fc.record({
    type: fc.constant("TOOL_CALL_RESULT"),
    toolCallId: fc.constantFrom("c1", "c2", "c3"),
    messageId: fc.constantFrom("r1", "r2", "r3"),
    content: fc.string({ maxLength: 5 }),
    metadata: fc.constantFrom({}, { error: true }),
  }),
  fc.constant({ type: "CUSTOM", name: "n", value: 1 }),
  fc.constant({ type: "REASONING_MESSAGE_CHUNK", messageId: "t", delta: "hm" }),
);
// One thing after the other, as agents say them: text, a message in some role, a call and its result.
const block = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }).map((text) => () => [text]),
  fc
    .tuple(fc.constantFrom("assistant", "user", "system"), fc.string({ maxLength: 5 }))
    .map(([role, delta]) => (index: number) => [
      { type: "TEXT_MESSAGE_START", messageId: `m${index}`, role },
      { type: "TEXT_MESSAGE_CONTENT", messageId: `m${index}`, delta },
      { type: "TEXT_MESSAGE_END", messageId: `m${index}` },
    ]),
  fc
    .record({
      args: fc.constantFrom("", "{}", '{"a":1}', "[]", "{"),
      metadata: fc.constantFrom({}, { error: "tool-error" }, undefined),
      name: fc.constantFrom("add", "paint"),
    })
    .map(({ args, metadata, name }) => (index: number) => [
      { type: "TOOL_CALL_START", toolCallId: `c${index}`, toolCallName: name },
      { type: "TOOL_CALL_ARGS", toolCallId: `c${index}`, delta: args },
      { type: "TOOL_CALL_END", toolCallId: `c${index}` },
      ...(metadata === undefined
        ? []
        : [
            {
              type: "TOOL_CALL_RESULT",
              toolCallId: `c${index}`,
              messageId: `r${index}`,
              content: "ok",
              metadata,
            },
          ]),
    ]),
);
const ending = fc.constantFrom<readonly unknown[]>(
  [],
  [{ throw: new Error("no") }],
  [{ type: "RUN_ERROR", message: "no", code: "acme/no" }],
);

type Script = Parameters<typeof scriptedAgent>[0];

async function play(script: Script): Promise<{ frames: Frame[]; events: readonly BaseEvent[] }> {
  const agent = scriptedAgent(script);
  const handler = createAgentHandler(
    { helper: agent },
    { protocols: [rest()], logger: silentLogger },
  );
  const frames = await collect(framesOf(await handler.fetch(ask("/chat/stream"))));
  const runId = String(frames[0]?.data["message_id"]);
  const key = { principal: "", threadId: sessionId, runId };
  const events = (await handler.sessions.runs.read(key, 0)).map(({ event }) => event);
  await handler.close();
  return { frames, events };
}

describe("any run", () => {
  const script = fc.tuple(fc.array(say, { maxLength: 25 }), ending);

  test("is sent whole: its text, every call to its end, and one end, last", async () => {
    await fc.assert(
      fc.asyncProperty(script, async ([said, last]) => {
        const { frames, events } = await play([...said, ...last] as Script);
        const of = (kind: string): Frame[] => frames.filter(({ event }) => event === kind);
        expect(frames[0]?.event).toBe("stream_start");
        expect(of("stream_start")).toHaveLength(1);
        expect(
          of("message_delta")
            .map(({ data }) => data["delta"])
            .join(""),
        ).toBe(spokenIn(events));
        const open = new Set<unknown>();
        for (const { event, data } of frames) {
          if (event === "tool_call_start") {
            expect(open).not.toContain(data["tool_call_id"]);
            open.add(data["tool_call_id"]);
          }
          if (event === "tool_call_args") expect(open).toContain(data["tool_call_id"]);
          if (event === "tool_call_end") {
            expect(open.delete(data["tool_call_id"])).toBe(true);
            expect(["success", "error"]).toContain(data["status"]);
          }
        }
        expect(open.size).toBe(0);
        const isFailure = events.at(-1)?.type === "RUN_ERROR";
        expect([...of("stream_end"), ...of("error")]).toHaveLength(1);
        expect(frames.at(-1)?.event).toBe(isFailure ? "error" : "stream_end");
        const ids = frames.flatMap(({ data }) => data["message_id"] ?? []);
        expect(new Set(ids).size).toBe(1);
      }),
      { numRuns },
    );
  });

  test("is the same whole as in pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 8 }), async (blocks) => {
        const script = blocks.flatMap<unknown>((make, index) => make(index)) as Script;
        const { frames } = await play(script);
        const handler = createAgentHandler(
          { helper: scriptedAgent(script) },
          { protocols: [rest()], logger: silentLogger },
        );
        const whole = (await (await handler.fetch(ask("/chat"))).json()) as ChatResponse;
        await handler.close();
        const statuses = new Map(
          frames.flatMap(({ event, data }) =>
            event === "tool_call_end" ? [[data["tool_call_id"], data["status"]]] : [],
          ) as [unknown, unknown][],
        );
        const started = frames.filter(({ event }) => event === "tool_call_start");
        const pieces = started.map(({ data }) => [
          data["name"],
          statuses.get(data["tool_call_id"]),
        ]);
        expect(whole.tool_calls.map(({ name, status }) => [name, status])).toEqual(pieces);
        const deltas = frames.filter(({ event }) => event === "message_delta");
        expect(whole.content).toBe(deltas.map(({ data }) => data["delta"]).join(""));
      }),
      { numRuns },
    );
  });

  test("is made from the log alone", () => {
    const log: LogEntry[] = [
      { type: "RUN_STARTED", threadId: "t", runId: "r" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: 'a\r\n\n"b' },
      { type: "RUN_FINISHED", threadId: "t", runId: "r" },
    ].map((event, index) => ({
      from: index + 1,
      to: index + 1,
      at: 1_000 + 7 * index,
      event: event as BaseEvent,
    }));
    const encoder = restSseEncoder();
    expect(log.map((entry) => encoder.encode(entry)).join("")).toBe(
      'event: stream_start\ndata: {"session_id":"t","message_id":"r"}\n\n' +
        'event: message_delta\ndata: {"delta":"a\\r\\n\\n\\"b","message_id":"r"}\n\n' +
        'event: stream_end\ndata: {"message_id":"r","tokens_used":null,"execution_time_ms":14}\n\n',
    );
  });
});

function spokenIn(events: readonly BaseEvent[]): string {
  const mine = new Set<unknown>();
  let text = "";
  for (const event of events) {
    const { type, messageId, role = "assistant", delta } = event as AgentEvent & { role?: string };
    if (type === "TEXT_MESSAGE_START") {
      if (role === "assistant") mine.add(messageId);
      else mine.delete(messageId);
    }
    if (type === "TEXT_MESSAGE_CONTENT" && mine.has(messageId)) text += String(delta);
  }
  return text;
}
