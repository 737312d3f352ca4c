import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Chunk, Json } from "@holodeck/agui-core";
import { createAgentHandler } from "@holodeck/agui";
import { readSse } from "@holodeck/agui-testing";
import { testEncoder, testProtocol } from "@holodeck/agui-testing/vitest";
import { uiStreamEncoder, vercel } from "@holodeck/agui-vercel";
import type { UiStreamEncoderOptions } from "@holodeck/agui-vercel";
import { describe, expect, test } from "vitest";
import { load } from "./_chat.ts";

// What no part of the client's message can show, each with its reason.
const dropped = [
  // Somebody else's events, for whoever debugs; AG-UI's own clients have them.
  "RAW",
  // Brackets around reasoning, whose messages are shown.
  "REASONING_START",
  "REASONING_END",
  // Never in a log: the guard expands them.
  "TEXT_MESSAGE_CHUNK",
  "TOOL_CALL_CHUNK",
  "REASONING_MESSAGE_CHUNK",
] as const;

const schemas = ["ai-6-0", "ai-7-0"].map((name) => {
  const { uiMessageChunkSchema } = load(name);
  return typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
});

for (const sdkVersion of [5, 6, 7] as const) {
  const told: Json[] = [];
  testEncoder(`UI message stream ${sdkVersion}`, () => uiStreamEncoder({ sdkVersion }), {
    dropped,
    parse: (chunk) => told.push(...chunksOf(chunk)),
  });

  test(`sends nothing that the strict schemas refuse, for AI SDK ${sdkVersion}`, async () => {
    expect(told.length).toBeGreaterThan(50);
    await expectReadable(told);
  });
}

testProtocol("AI SDK 5 to 7", {
  createHandler: (agent, options) =>
    createAgentHandler(agent, { ...options, protocols: [vercel()] }),
  start: ({ threadId }) =>
    new Request("http://test.local/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: threadId,
        trigger: "submit-message",
        messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }],
      }),
    }),
  stop: ({ threadId }) =>
    new Request(`http://test.local/api/chat/${threadId}/stop`, { method: "POST" }),
  async *read(response) {
    for await (const { data } of readSse(response)) {
      if (data === "[DONE]") yield { data, ends: true };
      else yield { data: JSON.parse(data) as unknown };
    }
  },
});

/** The chunks that an encoder makes of events. */
function tell(events: readonly Json[], options: UiStreamEncoderOptions = {}): Json[] {
  const encoder = uiStreamEncoder(options);
  return events.flatMap((event, index) =>
    chunksOf(
      encoder.encode({
        from: index + 1,
        to: index + 1,
        at: 0,
        event: event as unknown as BaseEvent,
      }),
    ),
  );
}

function chunksOf(chunk: Chunk): Json[] {
  return String(chunk)
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, json] = /^(?:id: \d+\n)?data: (.*)$/s.exec(frame) ?? [];
      if (json === undefined) throw new SyntaxError(`Not a frame: ${frame}`);
      return JSON.parse(json) as Json;
    });
}

async function expectReadable(chunks: readonly Json[]): Promise<void> {
  for (const chunk of chunks) {
    for (const schema of schemas) {
      const { error } = await schema.validate(chunk);
      expect(error, JSON.stringify(chunk)).toBeUndefined();
    }
  }
}

const types = (chunks: readonly Json[]): unknown[] => chunks.map(({ type }) => type);
const started = { type: EventType.RUN_STARTED, threadId: "t", runId: "r" };
const finished = { type: EventType.RUN_FINISHED, threadId: "t", runId: "r" };
const call = (id: string): Json[] => [
  { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: "look" },
  { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: '{"at":1}' },
  { type: EventType.TOOL_CALL_END, toolCallId: id },
];
const result = (id: string, content: unknown = "ok"): Json => ({
  type: EventType.TOOL_CALL_RESULT,
  messageId: `${id}-result`,
  toolCallId: id,
  content,
});
const text = (id: string, ...deltas: string[]): Json[] => [
  { type: EventType.TEXT_MESSAGE_START, messageId: id, role: "assistant" },
  ...deltas.map((delta) => ({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta })),
  { type: EventType.TEXT_MESSAGE_END, messageId: id },
];

describe("uiStreamEncoder", () => {
  test("begins a new step for what follows the answers of all tools", () => {
    const chunks = tell([started, ...call("a"), result("a"), ...text("m", "So."), finished]);
    expect(types(chunks)).toEqual([
      "start",
      "start-step",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-available",
      "tool-output-available",
      "finish-step",
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "finish-step",
      "finish",
    ]);
  });

  test("keeps a call that waits for the client in the last step", () => {
    const chunks = tell([
      started,
      ...call("server"),
      ...call("client"),
      result("server"),
      ...text("m", "Please."),
      finished,
    ]);
    expect(types(chunks).filter((type) => type === "start-step")).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ messageMetadata: { finishReason: "tool-calls" } });
  });

  test.for([
    ["a run that ends with an answer", finished],
    ["a stopped run", { ...finished, outcome: { type: "cancelled" } }],
    ["a failed run", { type: EventType.RUN_ERROR, message: "no" }],
  ] as const)("puts an empty step and a write after the last tool of %s", ([, end]) => {
    const chunks = types(tell([started, ...call("a"), result("a"), end]));
    const rest = chunks.slice(chunks.lastIndexOf("tool-output-available") + 1);
    expect(rest.slice(0, 3)).toEqual(["finish-step", "start-step", "finish-step"]);
    expect(["finish", "message-metadata"]).toContain(rest[3]);
  });

  test.for<[string, Json, Json]>([
    ["an answer", finished, { type: "finish" }],
    ["being stopped", { ...finished, outcome: { type: "cancelled" } }, { type: "abort" }],
    [
      "a failure",
      { type: EventType.RUN_ERROR, message: "postgres://secret" },
      { type: "error", errorText: "An error occurred." },
    ],
  ])("ends after %s in the way of its kind, once", ([, end, last]) => {
    const chunks = tell([started, ...text("m", "Hel"), end]);
    expect(chunks.at(-1)).toMatchObject(last);
    const ends = ["finish", "abort", "error"];
    expect(types(chunks).filter((type) => ends.includes(String(type)))).toEqual([last.type]);
  });

  test("opens a text again when a step ended in the middle of it", () => {
    const [start, one, two, end] = text("m", "one", "two");
    const chunks = tell([
      started,
      start!,
      one!,
      ...call("a"),
      result("a"),
      ...text("other", "x"),
      two!,
      end!,
      finished,
    ]);
    const ofM = chunks.filter(({ id }) => id === "m");
    expect(types(ofM)).toEqual([
      "text-start",
      "text-delta",
      "text-end",
      "text-start",
      "text-delta",
      "text-end",
    ]);
  });

  test("shows arguments that are no JSON object as the text they are", () => {
    const [start, , end] = call("a");
    const args = { type: EventType.TOOL_CALL_ARGS, toolCallId: "a", delta: '{"half' };
    expect(tell([started, start!, args, end!])).toContainEqual(
      expect.objectContaining({ type: "tool-input-available", input: '{"half' }),
    );
  });

  test.for([
    ["JSON", '{"a":1}', { output: { a: 1 } }],
    ["text", "plain", { output: "plain" }],
    ["text parts", [{ type: "text", text: "[1]" }], { output: [1] }],
    ["a failure", '{"error":{"code":"tool-error","message":"No."}}', { errorText: "No." }],
  ] as const)("shows a result that is %s", ([, content, shown]) => {
    expect(tell([started, ...call("a"), result("a", content)]).at(-1)).toMatchObject(shown);
  });

  test("shows a result whose call was not in the stream", async () => {
    const chunks = tell([started, result("lost"), finished]);
    expect(types(chunks)).toContain("tool-input-available");
    await expectReadable(chunks);
  });

  test("adds to the message it continues, and does not repeat its calls", () => {
    const known = new Set(["a"]);
    const options = { continues: "message-1", known };
    const chunks = tell(
      [started, ...call("a"), result("a"), ...text("m", "So."), finished],
      options,
    );
    expect(types(chunks).slice(0, 4)).toEqual([
      "start",
      "tool-output-available",
      "start-step",
      "text-start",
    ]);
    expect(chunks[0]).toMatchObject({ messageId: "message-1" });
  });

  test("gives a continued message a new step even when the run sends nothing", () => {
    const chunks = tell([started, finished], { continues: "message-1" });
    expect(types(chunks)).toEqual(["start", "start-step", "finish-step", "finish"]);
  });

  test("sends only what a snapshot adds to this answer", () => {
    const messages = [
      { id: "u0", role: "user", content: "before" },
      { id: "a0", role: "assistant", content: "history" },
      { id: "u1", role: "user", content: "now" },
      { id: "m", role: "assistant", content: "streamed" },
      {
        id: "a1",
        role: "assistant",
        content: "new",
        toolCalls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { id: "r", role: "tool", toolCallId: "c", content: "seen" },
    ];
    const snapshot = { type: EventType.MESSAGES_SNAPSHOT, messages };
    const chunks = tell([started, ...text("m", "streamed"), snapshot, finished]);
    const deltas = chunks.filter(({ type }) => type === "text-delta");
    expect(deltas.map(({ delta }) => delta)).toEqual(["streamed", "new"]);
    expect(chunks).toContainEqual({
      type: "tool-output-available",
      toolCallId: "c",
      output: "seen",
    });
  });

  test("keeps state in one part, whole after every change", () => {
    const chunks = tell([
      started,
      { type: EventType.STATE_SNAPSHOT, snapshot: { count: 1 } },
      { type: EventType.STATE_DELTA, delta: [{ op: "replace", path: "/count", value: 2 }] },
    ]);
    expect(chunks.slice(1)).toEqual([
      { type: "data-agui-state", id: "state", data: { count: 1 } },
      { type: "data-agui-state", id: "state", data: { count: 2 } },
    ]);
  });

  test("sends a change of state as such when it knows of no state", () => {
    const delta = [{ op: "replace", path: "/count", value: 2 }];
    expect(tell([started, { type: EventType.STATE_DELTA, delta }]).at(-1)).toEqual({
      type: "data-agui-state-delta",
      data: delta,
      transient: true,
    });
  });

  test("drops keys for which a client would refuse the whole answer", () => {
    const value = JSON.parse(
      '{"__proto__":{"a":1},"constructor":{"prototype":1},"b":2}',
    ) as unknown;
    const chunk = tell([started, { type: EventType.CUSTOM, name: "n", value }]).at(-1);
    expect(chunk).toMatchObject({ type: "data-n", data: { b: 2 } });
    expect(Object.keys(chunk!.data as object)).toEqual(["b"]);
  });

  test.for([
    ["source-url", { url: "https://a.test", title: "A" }],
    ["source-document", { mediaType: "application/pdf", title: "A", filename: "a.pdf" }],
    ["file", { url: "data:text/plain,a", mediaType: "text/plain" }],
  ] as const)("makes a separate part of the custom event %s", async ([name, value]) => {
    const chunk = tell([started, { type: EventType.CUSTOM, name, value }]).at(-1)!;
    expect(chunk).toMatchObject({ type: name, ...value });
    await expectReadable([chunk]);
  });

  test("sums the tokens of all models", () => {
    const usage = [
      { model: "a", inputTokens: 1, outputTokens: 2 },
      { model: "b", inputTokens: 10, totalTokens: 12 },
    ];
    expect(tell([started, { ...finished, usage }]).at(-1)).toMatchObject({
      messageMetadata: { usage: { inputTokens: 11, outputTokens: 2, totalTokens: 12 } },
    });
  });

  test("gives the offset of an entry to its last frame", () => {
    const encoder = uiStreamEncoder();
    const encode = (event: Json, to: number): Chunk =>
      encoder.encode({ from: to, to, at: 0, event: event as unknown as BaseEvent });
    const ids = [
      encode(started, 1),
      encode({ type: "TEXT_MESSAGE_START", messageId: "a", role: "assistant" }, 2),
      encode({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "x" }, 3),
      encode({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "y" }, 4),
      encode({ type: "RAW", event: {} }, 5),
      // Not in the log.
      encode({ type: "RUN_ERROR", message: "lost" }, 0),
    ].map((chunk) =>
      String(chunk)
        .split("\n\n")
        .slice(0, -1)
        .map((frame) => /^id: (\d+)\n/.exec(frame)?.[1]),
    );
    expect(ids).toEqual([["1"], [undefined, "2"], ["3"], ["4"], [], Array(4).fill(undefined)]);
  });

  test.for([
    [5, []],
    [undefined, [{ type: "tool-approval-request", approvalId: "i", toolCallId: "a" }]],
    [6, [{ type: "tool-approval-request", approvalId: "i", toolCallId: "a" }]],
  ] as const)("asks for approval of a call, for AI SDK %s", ([sdkVersion, asked]) => {
    const interrupts = [{ id: "i", reason: "tool_call", toolCallId: "a" }];
    const end = { ...finished, outcome: { type: "interrupt", interrupts } };
    const chunks = tell([started, ...call("a"), end], { sdkVersion });
    expect(chunks.filter(({ type }) => type === "tool-approval-request")).toEqual(asked);
    expect(chunks).toContainEqual({ type: "data-agui-interrupt", id: "i", data: interrupts[0] });
  });

  test("asks otherwise than by approval where yes or no is no answer", () => {
    const responseSchema = { type: "object", required: ["approved", "amount"] };
    const interrupts = [{ id: "i", reason: "tool_call", toolCallId: "a", responseSchema }];
    const end = { ...finished, outcome: { type: "interrupt", interrupts } };
    const chunks = tell([started, ...call("a"), end], { sdkVersion: 6 });
    expect(types(chunks)).not.toContain("tool-approval-request");
    expect(types(chunks)).toContain("data-agui-interrupt");
  });
});
