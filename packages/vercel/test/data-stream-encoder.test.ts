import { eventExamples, parseDataStreamV1 } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { dataStreamEncoder, textStreamEncoder } from "@holodeck/agui-vercel";
import type { DataStreamEncoderOptions } from "@holodeck/agui-vercel";
import { encodeAll, receiveAssistantUi, receiveV4, toBody, toLog } from "./_v4-clients.ts";

const started = { type: "RUN_STARTED", threadId: "thread", runId: "run" };
const finished = { type: "RUN_FINISHED", threadId: "thread", runId: "run" };
const none = { promptTokens: 0, completionTokens: 0 };

function linesOf(events: readonly object[], options: DataStreamEncoderOptions = {}): string[] {
  const text = encodeAll(dataStreamEncoder(options), toLog([started, ...events])).join("");
  return text.split("\n").slice(0, -1);
}

const say = (id: string, ...deltas: string[]): object[] => [
  { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
  ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta })),
  { type: "TEXT_MESSAGE_END", messageId: id },
];
const call = (id: string, name: string, args: string): object[] => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: args },
  { type: "TOOL_CALL_END", toolCallId: id },
];
const result = (id: string, content: unknown): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: `${id}-result`,
  toolCallId: id,
  content,
});
const think = (id: string, delta: string): object[] => [
  { type: "REASONING_START", messageId: id },
  { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta },
  { type: "REASONING_MESSAGE_END", messageId: id },
  { type: "REASONING_END", messageId: id },
];

describe("data stream v1", () => {
  test("is a blank part, the answer, and one d: at the end", () => {
    expect(linesOf([...say("m1", 'Say "hi"\n', "🌦")])).toEqual([
      '0:""',
      'f:{"messageId":"run"}',
      '0:"Say \\"hi\\"\\n"',
      '0:"🌦"',
      'e:{"finishReason":"stop","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}',
      'd:{"finishReason":"stop","usage":{"promptTokens":0,"completionTokens":0}}',
    ]);
  });

  test("is without the parts that AI SDK 3.4 does not know, in its mode", () => {
    const events = [...think("r1", "Hmm."), ...say("m1", "Hi")];
    expect(linesOf(events, { mode: "3.4" }).map((line) => line[0])).toEqual(["0", "0", "e", "d"]);
  });

  test("has a tool call as start, deltas, call and result", () => {
    const lines = linesOf([
      ...call("c1", "weather", '{"city":"Bern"}'),
      result("c1", '{"degrees":20}'),
      ...say("m1", "Warm."),
    ]);
    expect(lines.slice(2)).toEqual([
      'b:{"toolCallId":"c1","toolName":"weather"}',
      'c:{"toolCallId":"c1","argsTextDelta":"{\\"city\\":\\"Bern\\"}"}',
      '9:{"toolCallId":"c1","toolName":"weather","args":{"city":"Bern"}}',
      'a:{"toolCallId":"c1","result":{"degrees":20}}',
      'e:{"finishReason":"tool-calls","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}',
      'f:{"messageId":"run"}',
      '0:"Warm."',
      'e:{"finishReason":"stop","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}',
      'd:{"finishReason":"stop","usage":{"promptTokens":0,"completionTokens":0}}',
    ]);
  });

  test.for([
    ["", {}],
    ["[1]", { value: [1] }],
    ["7", { value: 7 }],
    ['{"half', { raw: '{"half' }],
  ] as const)("gives %j as arguments an object", ([args, expected]) => {
    const parts = parseDataStreamV1(linesOf(call("c1", "look", args)).join("\n"));
    expect(parts.find(({ type }) => type === "tool_call")?.value).toMatchObject({ args: expected });
  });

  test.for([
    ["plain text", "plain text"],
    ["42", "42"],
    ['{"a":1}', { a: 1 }],
    ["[oops", "[oops"],
  ] as const)("gives the result %j as what it is", ([content, expected]) => {
    const events = [...call("c1", "look", "{}"), result("c1", content)];
    const parts = parseDataStreamV1(linesOf(events).join("\n"));
    expect(parts.find(({ type }) => type === "tool_result")?.value).toEqual({
      toolCallId: "c1",
      result: expected,
    });
  });

  test("brings the call along when there is only its result", () => {
    expect(linesOf([result("c9", "late")]).slice(2, 4)).toEqual([
      '9:{"toolCallId":"c9","toolName":"unknown","args":{}}',
      'a:{"toolCallId":"c9","result":"late"}',
    ]);
  });

  test("answers a call of the message that it continues without calling again", async () => {
    const lines = linesOf([result("c9", "late")], { continues: "m0", known: new Set(["c9"]) });
    expect(lines.map((line) => line[0])).toEqual(["0", "f", "a", "e", "d"]);
    expect(lines[1]).toBe('f:{"messageId":"m0"}');
    const invocation = { state: "call" as const, toolCallId: "c9", toolName: "ask", args: {} };
    const lastMessage = {
      id: "m0",
      role: "assistant" as const,
      content: "",
      toolInvocations: [invocation],
      parts: [{ type: "tool-invocation" as const, toolInvocation: invocation }],
    };
    const { message, error } = await receiveV4(toBody([`${lines.join("\n")}\n`]), { lastMessage });
    expect(error).toBeUndefined();
    expect(message?.toolInvocations).toMatchObject([{ toolName: "ask", result: "late" }]);
  });

  test("counts the tokens of all models", () => {
    const usage = [
      { model: "a", inputTokens: 1, outputTokens: 2 },
      { model: "b", inputTokens: 10 },
    ];
    expect(linesOf([{ ...finished, usage }]).at(-1)).toBe(
      'd:{"finishReason":"stop","usage":{"promptTokens":11,"completionTokens":2}}',
    );
  });

  test.for([
    ["calls that wait for the client", [...call("c1", "ask", "{}")], "tool-calls"],
    ["a stop", [{ ...finished, outcome: { type: "cancelled" } }], "other"],
    [
      "a question to the user",
      [
        {
          ...finished,
          outcome: { type: "interrupt", interrupts: [{ id: "i1", reason: "approval" }] },
        },
      ],
      "tool-calls",
    ],
    ["a failure", [{ type: "RUN_ERROR", message: "secret", code: "agent-error" }], "error"],
  ] as const)("ends after %s with its reason", ([, events, finishReason]) => {
    const parts = parseDataStreamV1(linesOf(events).join("\n"));
    expect(parts.at(-1)).toEqual({ type: "finish_message", value: { finishReason, usage: none } });
  });

  test("masks a failure, unless an option sets its text", () => {
    const failed = { type: "RUN_ERROR", message: "postgres://secret", code: "internal" };
    expect(linesOf([failed]).at(-2)).toBe('3:"An error occurred."');
    expect(linesOf([failed], { debug: true }).at(-2)).toBe('3:"postgres://secret"');
    const describeFailure = ({ code }: { code?: string }): string => `Code ${code}`;
    expect(linesOf([failed], { describeFailure }).at(-2)).toBe('3:"Code internal"');
  });

  test("shows a question of the agent's with the message", () => {
    const interrupt = { id: "i1", reason: "approval", toolCallId: "c1" };
    const lines = linesOf([
      ...call("c1", "delete", "{}"),
      { ...finished, outcome: { type: "interrupt", interrupts: [interrupt] } },
    ]);
    expect(lines).toContain(`8:${JSON.stringify([{ type: "agui-interrupt", data: interrupt }])}`);
  });

  test("has reasoning with its signature, and what is only encrypted", async () => {
    const lines = linesOf([
      ...think("r1", "Because."),
      {
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: "r1",
        encryptedValue: "s",
      },
      ...say("m1", "So."),
    ]);
    expect(lines.slice(2, -2)).toEqual([
      'e:{"finishReason":"stop","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}',
      'f:{"messageId":"run"}',
      'g:"Because."',
      'j:{"signature":"s"}',
      '0:"So."',
    ]);
    const { message } = await receiveV4(toBody([`${lines.join("\n")}\n`]));
    // What was thought first is shown first.
    expect(message?.parts.filter((part) => part.type !== "step-start")).toMatchObject([
      { type: "text", text: "" },
      { type: "reasoning", details: [{ text: "Because.", signature: "s" }] },
      { type: "text", text: "So." },
    ]);
  });

  test("sends the state, its changes and what else is data", () => {
    const lines = linesOf([
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: 2 }] },
      { type: "STEP_STARTED", stepName: "plan" },
      { type: "STEP_FINISHED", stepName: "plan" },
      { type: "CUSTOM", name: "mood", value: { happy: true } },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "plan", content: { done: 1 } },
      {
        type: "ACTIVITY_DELTA",
        messageId: "a1",
        activityType: "plan",
        patch: [{ op: "replace", path: "/done", value: 2 }],
      },
      { type: "RAW", event: { other: "provider" } },
    ]);
    expect(lines.slice(2, -2)).toEqual([
      '2:[{"type":"agui-state","data":{"n":1}}]',
      '2:[{"type":"agui-state-delta","data":[{"op":"replace","path":"/n","value":2}]}]',
      '2:[{"type":"agui-step","data":{"stepName":"plan","status":"running"}}]',
      '2:[{"type":"agui-step","data":{"stepName":"plan","status":"done"}}]',
      '2:[{"type":"mood","data":{"happy":true}}]',
      '2:[{"type":"plan","id":"a1","data":{"done":1}}]',
      '2:[{"type":"plan","id":"a1","data":{"done":2}}]',
    ]);
  });

  test("sends a message of another role as data, not as the answer", async () => {
    const lines = linesOf([
      { type: "TEXT_MESSAGE_START", messageId: "m0", role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: "quoted" },
      { type: "TEXT_MESSAGE_END", messageId: "m0" },
      ...say("m1", "Hi"),
    ]);
    const { message, data } = await receiveV4(toBody([`${lines.join("\n")}\n`]));
    expect(message?.content).toBe("Hi");
    expect(data).toEqual([
      { type: "agui-message", data: { id: "m0", role: "user", content: "quoted" } },
    ]);
  });

  test("sends what is in a snapshot only, and nothing of it twice", async () => {
    const messages = [
      { id: "u1", role: "user", content: "hi" },
      { id: "m1", role: "assistant", content: "Streamed." },
      {
        id: "m2",
        role: "assistant",
        content: "Only here.",
        toolCalls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { id: "t1", role: "tool", toolCallId: "c1", content: "seen" },
    ];
    const snapshot = { type: "MESSAGES_SNAPSHOT", messages };
    const lines = linesOf([...say("m1", "Streamed."), snapshot, snapshot]);
    const { message } = await receiveV4(toBody([`${lines.join("\n")}\n`]));
    expect(message?.content).toBe("Streamed.Only here.");
    expect(message?.toolInvocations).toMatchObject([{ toolName: "look", result: "seen" }]);
  });

  test("keeps messages apart in the client", async () => {
    const lines = linesOf([...say("m1", "One."), ...say("m2", "Two.")]);
    const { message } = await receiveV4(toBody([`${lines.join("\n")}\n`]));
    expect(message?.parts.filter(({ type }) => type === "text")).toEqual([
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ]);
  });

  test("lets no key reach a prototype", async () => {
    const value = JSON.parse('{"__proto__":{"admin":true},"kept":1}') as unknown;
    const lines = linesOf([...call("c1", "look", JSON.stringify(value)), result("c1", "ok")]);
    expect(lines.find((line) => line.startsWith("9:"))).toBe(
      '9:{"toolCallId":"c1","toolName":"look","args":{"kept":1}}',
    );
    const message = await receiveAssistantUi(toBody([`${lines.join("\n")}\n`]));
    expect(message?.parts.some((part) => part.type === "tool-call")).toBe(true);
  });

  test("goes on living with an empty line, which no reader minds", async () => {
    const encoder = dataStreamEncoder();
    expect(encoder.keepAlive?.(false)).toBe("\n");
    const chunks = encodeAll(encoder, toLog([started, ...say("m1", "Hi")]));
    const { message, error } = await receiveV4(toBody(chunks.flatMap((chunk) => ["\n", chunk])));
    expect(error).toBeUndefined();
    expect(message?.content).toBe("Hi");
  });

  test("ends a log without an end", () => {
    const encoder = dataStreamEncoder();
    encoder.encode({ from: 1, to: 1, at: 0, event: eventExamples.RUN_STARTED });
    expect(encoder.close?.()).toMatch(/\nd:\{"finishReason":"unknown".*\}\n$/);
    expect(encoder.close?.()).toBe("");
  });

  test("has the headers that clients and proxies look at, and never Transfer-Encoding", () => {
    const { contentType, headers } = dataStreamEncoder();
    expect(contentType).toBe("text/plain; charset=utf-8");
    expect(headers).toEqual({
      "x-vercel-ai-data-stream": "v1",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(dataStreamEncoder({ legacyHeaders: true }).headers).toEqual({
      ...headers,
      connection: "keep-alive",
      "content-encoding": "none",
    });
  });

  test("refuses a mode and an option that there is none of", () => {
    expect(() => dataStreamEncoder({ mode: "2.0" as never })).toThrow(
      'dataStreamEncoder({ mode: "2.0" }) must be "3.4".',
    );
    expect(() => dataStreamEncoder({ continue: "m" } as never)).toThrow("Did you mean continues?");
  });
});

describe("text stream", () => {
  test("is the assistant's text and nothing else", () => {
    const events = [
      started,
      ...think("r1", "Hmm."),
      ...call("c1", "look", "{}"),
      ...say("m1", "Hello ", "world"),
    ];
    expect(encodeAll(textStreamEncoder(), toLog(events)).join("")).toBe("Hello world");
    expect(textStreamEncoder().contentType).toBe("text/plain; charset=utf-8");
    expect(textStreamEncoder().keepAlive).toBeUndefined();
  });
});
