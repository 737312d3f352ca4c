import type { BaseEvent, Message } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { EarlierCalls } from "../src/guard/calls/earlier-calls.ts";
import { HistoryBudget } from "../src/guard/history/history-budget.ts";
import type { SentHistory } from "../src/guard/history/history-budget.ts";
import type { Limits } from "../src/contract/limits.ts";
import { startGuard } from "./guard-kit.ts";

type Json = Record<string, unknown>;

const user: Message = { id: "u", role: "user", content: "hi" };

interface Setup {
  readonly limits?: Partial<Limits>;
  readonly sent?: Partial<SentHistory>;
  readonly messages?: readonly Message[];
  /** Names of tools that run on the server. */
  readonly serverTools?: readonly string[];
}

/** Pushes values until the run is refused; returns how many were taken, and what the client received. */
function pushAll(
  values: Iterable<unknown>,
  { limits = {}, sent = {}, messages = [user], serverTools = [] }: Setup = {},
): { taken: number; events: BaseEvent[]; error: BaseEvent | undefined } {
  const events: BaseEvent[] = [];
  const earlier = new EarlierCalls(messages);
  const all = {
    bodyBytes: 1_000_000,
    messages: 1_000,
    jsonDepth: 64,
    runLogBytes: 8_000_000,
    ...limits,
  } as Limits;
  const budget = new HistoryBudget(
    { sent: { messages, state: {} }, held: () => ({ messages, events: events.slice() }) },
    { bytes: 1_000, messages: messages.length, keepsData: false, ...sent },
    all,
  );
  const { guard } = startGuard({
    budget,
    emit: (event) => void events.push(event),
    calls: {
      isClientTool: (name: string) => !serverTools.includes(name),
      earlierCalls: () => earlier,
      isSettledCall: () => false,
    },
  });
  let taken = 0;
  const isOver = (): boolean => events.at(-1)?.type === "RUN_ERROR";
  for (const value of values) {
    guard.push(value);
    if (isOver()) break;
    taken++;
  }
  return { taken, events, error: isOver() ? events.at(-1) : undefined };
}

function* many(make: (at: number) => Json[], count = 5_000): Generator<Json> {
  for (let at = 0; at < count; at++) yield* make(at);
}

const text = (id: string, delta: string): Json[] => [
  { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta },
  { type: "TEXT_MESSAGE_END", messageId: id },
];
const thought = (id: string, delta: string): Json[] => [
  { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta },
  { type: "REASONING_MESSAGE_END", messageId: id },
];
const call = (id: string, parent?: string, name = "look"): Json[] => [
  {
    type: "TOOL_CALL_START",
    toolCallId: id,
    toolCallName: name,
    ...(parent ? { parentMessageId: parent } : {}),
  },
  { type: "TOOL_CALL_END", toolCallId: id },
];
const result = (id: string, content = "42"): Json[] => [
  { type: "TOOL_CALL_RESULT", messageId: `${id}-r`, toolCallId: id, content },
];
const snapshot = (messages: readonly Message[]): Json[] => [
  { type: "MESSAGES_SNAPSHOT", messages },
];
const answers = (count: number): Message[] =>
  Array.from({ length: count }, (_, at) => ({ id: `s${at}`, role: "assistant", content: "hi" }));

describe("the messages that a client has to send back", () => {
  const limits = { messages: 8 };

  // Two of eight are kept for what the user writes next, and one was sent: five are left.
  test.for<[string, (at: number) => Json[], number, Setup?]>([
    ["texts", (at) => text(`m${at}`, "hi"), 5],
    ["thoughts", (at) => thought(`m${at}`, "hm"), 5],
    ["a text that is opened again and again", () => text("m", "hi"), 1_000],
    ["calls of the client's tools, with their results to come", (at) => call(`c${at}`), 2],
    ["such calls in one message", (at) => call(`c${at}`, "m"), 4],
    ["calls of server tools", (at) => call(`c${at}`, undefined, "pay"), 5],
    ["such calls in one message of the server's", (at) => call(`c${at}`, "m", "pay"), 1_000],
    [
      "calls of server tools with their results",
      (at) => [...call(`c${at}`, undefined, "pay"), ...result(`c${at}`)],
      2,
    ],
    [
      "calls of the client's tools that have their results",
      (at) => [...call(`c${at}`), ...result(`c${at}`)],
      2,
    ],
    ["results of calls that were made before", (at) => result(`c${at}`), 5],
    ["steps and states", () => [{ type: "STATE_SNAPSHOT", snapshot: {} }], 1_000],
  ])("are counted: %s", ([, make, most, setup]) => {
    const size = make(0).length;
    const { taken, error } = pushAll(many(make, 1_000), { limits, serverTools: ["pay"], ...setup });
    expect(Math.floor(taken / size)).toBe(most);
    if (most === 1_000) return expect(error).toBeUndefined();
    expect(error).toMatchObject({
      code: "history-too-large",
      message: "The conversation has too many messages to be sent back: limits.messages is 8.",
    });
  });

  test.for<[string, Message[], boolean]>([
    ["as many messages as fit", answers(6), true],
    ["one more", answers(7), false],
    [
      "activities, which are not sent back",
      [...answers(6), { id: "x", role: "activity", activityType: "plan", content: {} }],
      true,
    ],
  ])("are those of a snapshot with %s", ([, messages, fits]) => {
    const { error } = pushAll(snapshot(messages), { limits });
    expect(error === undefined).toBe(fits);
  });

  test("are those of a snapshot, with thoughts that it leaves out", () => {
    const thoughts = [...thought("t1", "hm"), ...thought("t2", "hm")];
    expect(pushAll([...thoughts, ...snapshot(answers(4))], { limits }).error).toBeUndefined();
    expect(pushAll([...thoughts, ...snapshot(answers(5))], { limits }).error).toBeDefined();
    const whole: Message[] = [...answers(5), { id: "t1", role: "reasoning", content: "hm" }];
    expect(pushAll([...thoughts, ...snapshot(whole)], { limits }).error).toBeUndefined();
    const before: Message[] = [user, { id: "t0", role: "reasoning", content: "hm" }];
    expect(pushAll(snapshot(answers(5)), { limits, messages: before }).error).toBeUndefined();
    expect(pushAll(snapshot(answers(6)), { limits, messages: before }).error).toBeDefined();
  });

  test("are those of a snapshot, with results that the client has to add", () => {
    const waiting = call("c1");
    expect(pushAll([...waiting, ...snapshot(answers(5))], { limits }).error).toBeUndefined();
    expect(pushAll([...waiting, ...snapshot(answers(6))], { limits }).error).toBeDefined();
    const answered = [...waiting, ...result("c1")];
    expect(pushAll([...answered, ...snapshot(answers(6))], { limits }).error).toBeUndefined();
  });

  test.for<[string, number, number, number]>([
    ["a tenth of many", 1_000, 0, 990],
    ["half of what is left", 1_000, 996, 2],
    ["one at least", 2, 1, 0],
    ["all that there are where the client is at its limit", 8, 8, 1_200],
    ["all that there are where the client is beyond it", 8, 9, 1_200],
  ])("leave room for the user: %s", ([, messages, sent, most]) => {
    const { taken } = pushAll(
      many((at) => text(`m${at}`, "x"), 1_200),
      { limits: { messages }, sent: { messages: sent } },
    );
    expect(Math.floor(taken / 3)).toBe(most);
  });
});

describe("the bytes that a client has to send back", () => {
  const limits = { bodyBytes: 20_000 };
  const bytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
  // A sixteenth of the body is for what the user writes next.
  const most = 20_000 - 20_000 / 16 - 1_000;

  test.for<[string, (at: number) => Json[], (events: readonly Json[]) => unknown]>([
    [
      "a text",
      () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "x".repeat(50) }],
      deltas,
    ],
    [
      "another script",
      () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "日本".repeat(20) }],
      deltas,
    ],
    [
      "a text of quotes",
      () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: '"'.repeat(50) }],
      deltas,
    ],
    [
      "a text of odd characters",
      () => [{ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "\u0001".repeat(20) }],
      deltas,
    ],
    [
      "a thought",
      () => [{ type: "REASONING_MESSAGE_CHUNK", messageId: "m", delta: "x".repeat(50) }],
      deltas,
    ],
    [
      "arguments",
      () => [
        { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "look", delta: '"x"'.repeat(20) },
      ],
      deltas,
    ],
    ["texts of a kilobyte", (at) => text(`m${at}`, "x".repeat(1_000)), deltas],
    ["results of a kilobyte", (at) => result(`c${at}`, "x".repeat(1_000)), contents],
    [
      "results as parts",
      (at) => [{ ...result(`c${at}`)[0], content: [{ type: "text", text: "x".repeat(1_000) }] }],
      contents,
    ],
    [
      "secrets",
      (at) => [
        ...(at === 0 ? text("m", "hi") : []),
        {
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: "message",
          entityId: "m",
          encryptedValue: "x".repeat(1_000),
        },
      ],
      (events) => events.flatMap((one) => one.encryptedValue ?? []),
    ],
    [
      "metadata",
      (at) => [{ ...text(`m${at}`, "")[0], metadata: { note: "x".repeat(1_000) } }],
      (events) => events.flatMap((one) => one.metadata ?? []),
    ],
    [
      "states that grow by patches",
      (at) => [
        { type: "STATE_DELTA", delta: [{ op: "add", path: `/k${at}`, value: "x".repeat(500) }] },
      ],
      (events) => events.flatMap((one) => (one.type === "STATE_DELTA" ? [one.delta] : [])),
    ],
    [
      "activities",
      (at) => [
        {
          type: "ACTIVITY_SNAPSHOT",
          messageId: `p${at}`,
          activityType: "plan",
          content: { step: "x".repeat(1_000) },
        },
      ],
      contents,
    ],
  ])("fit, and are nearly as many as fit: %s", ([name, make, payload]) => {
    const { events, error } = pushAll(many(make), { limits });
    expect(error).toMatchObject({
      code: "history-too-large",
      message: "The conversation is too large to be sent back: limits.bodyBytes is 20000.",
    });
    const sent = bytes(payload(events.slice(0, -1)));
    expect(sent).toBeLessThan(most * 1.05);
    // Metadata may come back with each of several parts.
    expect(sent).toBeGreaterThan(most * (name === "metadata" ? 0.28 : 0.45));
  });

  test.for<[string, (at: number) => Json[]]>([
    [
      "a state that is replaced",
      (at) => [{ type: "STATE_SNAPSHOT", snapshot: { at, text: "x".repeat(9_000) } }],
    ],
    [
      "a patch that replaces a value",
      (at) => [
        ...(at === 0 ? [{ type: "STATE_SNAPSHOT", snapshot: { a: "" } }] : []),
        {
          type: "STATE_DELTA",
          delta: [{ op: "replace", path: "/a", value: `${at}${"x".repeat(5_000)}` }],
        },
      ],
    ],
    [
      "an activity that is replaced",
      () => [
        {
          type: "ACTIVITY_SNAPSHOT",
          messageId: "p",
          activityType: "plan",
          content: { step: "x".repeat(5_000) },
        },
      ],
    ],
    [
      "messages that are replaced",
      () => snapshot([{ id: "s", role: "assistant", content: "x".repeat(5_000) }]),
    ],
    ["custom events", () => [{ type: "CUSTOM", name: "mark", value: "x".repeat(5_000) }]],
  ])("are those of the last one only: %s", ([, make]) => {
    expect(pushAll(many(make, 40), { limits }).error).toBeUndefined();
  });

  test("are all of custom events where the client keeps them", () => {
    const custom = (): Json[] => [{ type: "CUSTOM", name: "mark", value: "x".repeat(2_000) }];
    const { taken, error } = pushAll(many(custom, 40), { limits, sent: { keepsData: true } });
    expect(error).toMatchObject({ code: "history-too-large" });
    expect(taken).toBeGreaterThan(2);
    expect(taken).toBeLessThan(9);
  });

  test("are few where the last request was large already", () => {
    const delta = (): Json[] => [
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "x".repeat(50) },
    ];
    const messages: Message[] = [{ id: "u", role: "user", content: "x".repeat(18_000) }];
    const { taken, error } = pushAll(many(delta), { limits, messages, sent: { bytes: 18_200 } });
    expect(error).toMatchObject({ code: "history-too-large" });
    expect(taken).toBeGreaterThan(4);
    expect(taken).toBeLessThan(20);
  });
});

describe("a value that is nested", () => {
  const nested = (levels: number): unknown => (levels === 0 ? "x" : { a: nested(levels - 1) });
  const limits = { jsonDepth: 12 };

  // What stands around it in a body: the body, its messages, one of them, and parts of it.
  test.for<[string, (value: unknown) => Json[], number]>([
    ["a state", (value) => [{ type: "STATE_SNAPSHOT", snapshot: value }], 10],
    [
      "a patch of a state",
      (value) => [{ type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value }] }],
      9,
    ],
    [
      "a value that is moved in a state",
      (value) => [
        { type: "STATE_SNAPSHOT", snapshot: { b: value, c: { d: {} } } },
        { type: "STATE_DELTA", delta: [{ op: "move", from: "/b", path: "/c/d/e" }] },
      ],
      7,
    ],
    [
      "a value that is copied in a state",
      (value) => [
        { type: "STATE_SNAPSHOT", snapshot: { b: value, c: { d: {} } } },
        { type: "STATE_DELTA", delta: [{ op: "copy", from: "/b", path: "/c/d/e" }] },
      ],
      7,
    ],
    [
      "an activity",
      (value) => [
        { type: "ACTIVITY_SNAPSHOT", messageId: "p", activityType: "plan", content: { b: value } },
      ],
      6,
    ],
    [
      "a patch of an activity",
      (value) => [
        { type: "ACTIVITY_SNAPSHOT", messageId: "p", activityType: "plan", content: {} },
        {
          type: "ACTIVITY_DELTA",
          messageId: "p",
          activityType: "plan",
          patch: [{ op: "add", path: "/b", value }],
        },
      ],
      6,
    ],
    ["metadata", (value) => [{ ...text("m", "")[0], metadata: { b: value } }], 6],
    [
      "a message of a snapshot",
      (value) => snapshot([{ id: "s", role: "assistant", content: "", metadata: { b: value } }]),
      5,
    ],
  ])("is sent as long as it can be sent back: %s", ([, make, most]) => {
    expect(pushAll(make(nested(most)), { limits }).error).toBeUndefined();
    const { error } = pushAll(make(nested(most + 1)), { limits });
    expect(error).toMatchObject({ code: "event-too-large" });
    expect(String(error?.message)).toMatch(
      / event is nested too deep to be sent back: limits.jsonDepth is 12\.$/,
    );
  });

  test("in a custom event is only counted where the client keeps it", () => {
    const custom = [{ type: "CUSTOM", name: "mark", value: nested(8) }];
    expect(pushAll(custom, { limits }).error).toBeUndefined();
    expect(pushAll(custom, { limits, sent: { keepsData: true } }).error).toBeDefined();
  });
});

function deltas(events: readonly Json[]): unknown {
  return events.flatMap(({ delta }) => (typeof delta === "string" ? delta : [])).join("");
}

function contents(events: readonly Json[]): unknown {
  return events.flatMap(({ content }) => content ?? []);
}
