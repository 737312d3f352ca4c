import { AbstractAgent } from "@ag-ui/client";
import { EventType } from "@ag-ui/core";
import type { AssistantMessage, BaseEvent, Message } from "@ag-ui/core";
import * as fc from "fast-check";
import { from } from "rxjs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createReducer } from "../src/index.ts";
import type { Reducer, ReducerOptions } from "../src/index.ts";
import { randomRun } from "./random-run.ts";

type Loose = { type: `${EventType}` } & Record<string, unknown>;

class ScriptedAgent extends AbstractAgent {
  events: BaseEvent[] = [];
  run(): ReturnType<AbstractAgent["run"]> {
    // The client has an rxjs of its own.
    return from(this.events) as unknown as ReturnType<AbstractAgent["run"]>;
  }
}

/** The messages that AG-UI's own client ends up with. */
async function officialMessages(initial: Message[], events: readonly Loose[]): Promise<Message[]> {
  const agent = new ScriptedAgent({
    threadId: "thread",
    initialMessages: structuredClone(initial),
  });
  agent.events = structuredClone(events) as unknown as BaseEvent[];
  await agent.runAgent({ runId: "run" });
  return agent.messages;
}

function fold(
  initial: readonly Message[],
  events: readonly Loose[],
  options?: ReducerOptions,
): Reducer {
  const reducer = createReducer(initial, options);
  for (const event of events) reducer.apply(event as unknown as BaseEvent);
  return reducer;
}

const history: Message[] = [
  { id: "u0", role: "user", content: "Hi" },
  {
    id: "h0",
    role: "assistant",
    toolCalls: [{ id: "hc0", type: "function", function: { name: "look", arguments: "{}" } }],
  },
  { id: "h1", role: "tool", toolCallId: "hc0", content: "seen" },
  { id: "hr", role: "reasoning", content: "hm" },
  { id: "ha", role: "activity", activityType: "PLAN", content: { n: 1, list: [] } },
  { id: "h2", role: "assistant", content: "Hello", metadata: { model: "x" } },
];

const run = (...events: Loose[]): Loose[] => [
  { type: "RUN_STARTED", threadId: "thread", runId: "run" },
  ...events,
  { type: "RUN_FINISHED", threadId: "thread", runId: "run" },
];
const text = (messageId: string, ...deltas: string[]): Loose[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  ...deltas.map((delta): Loose => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  { type: "TEXT_MESSAGE_END", messageId },
];
const call = (toolCallId: string, parentMessageId?: string): Loose[] => [
  {
    type: "TOOL_CALL_START",
    toolCallId,
    toolCallName: "look",
    ...(parentMessageId && { parentMessageId }),
  },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: '{"q":' },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: "1}" },
  { type: "TOOL_CALL_END", toolCallId },
];
const result = (messageId: string, toolCallId: string): Loose => ({
  type: "TOOL_CALL_RESULT",
  messageId,
  toolCallId,
  content: `result of ${toolCallId}`,
});

describe("createReducer", () => {
  beforeEach(() => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.for<[string, Loose[]]>([
    ["text", text("m0", "Hel", "lo")],
    [
      "a role, a name and a subagent",
      [
        { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" },
        {
          type: "TEXT_MESSAGE_START",
          messageId: "m0",
          role: "developer",
          name: "n",
          subagentRunId: "s",
        },
        { type: "TEXT_MESSAGE_END", messageId: "m0", subagentRunId: "s" },
        { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
      ],
    ],
    ["text for a message that exists", text("h2", " again")],
    ["text for the message of a user with parts", text("u0", "more")],
    ["text under the id of an activity", text("ha", "lost")],
    ["a tool call with no parent", call("c0")],
    ["a tool call with a parent that exists", [...text("m0", "Look"), ...call("c0", "m0")]],
    ["a tool call with a parent to come", [...call("c0", "m0"), ...text("m0", "Looked")]],
    ["a tool call whose parent is a user", call("c0", "u0")],
    ["a tool call that is told again", [...call("hc0"), ...call("c0", "m0"), ...call("c0", "m0")]],
    [
      "parallel tool calls, answered late and in another order",
      [
        ...call("c0", "m0"),
        ...call("c1", "m0"),
        ...text("m1", "So"),
        result("t1", "c1"),
        result("t0", "c0"),
      ],
    ],
    ["a result for an old call and for none", [result("t0", "hc0"), result("t1", "nobody")]],
    [
      "a result under an id that is taken",
      [...text("m0", "x"), result("m0", "hc0"), ...text("m0", "where?")],
    ],
    [
      "reasoning, with an encrypted value",
      [
        { type: "REASONING_START", messageId: "r0" },
        { type: "REASONING_MESSAGE_START", messageId: "r0", role: "reasoning" },
        { type: "REASONING_MESSAGE_CONTENT", messageId: "r0", delta: "be" },
        { type: "REASONING_MESSAGE_CONTENT", messageId: "r0", delta: "cause" },
        { type: "REASONING_MESSAGE_END", messageId: "r0" },
        { type: "REASONING_END", messageId: "r0" },
        {
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: "message",
          entityId: "r0",
          encryptedValue: "e",
        },
        {
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: "tool-call",
          entityId: "hc0",
          encryptedValue: "f",
        },
        {
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: "message",
          entityId: "ha",
          encryptedValue: "g",
        },
      ],
    ],
    [
      "activities",
      [
        {
          type: "ACTIVITY_SNAPSHOT",
          messageId: "a0",
          activityType: "PLAN",
          content: { n: 1 },
          metadata: { k: 1 },
        },
        { type: "ACTIVITY_SNAPSHOT", messageId: "a0", activityType: "DONE", content: { n: 2 } },
        {
          type: "ACTIVITY_SNAPSHOT",
          messageId: "a0",
          activityType: "NO",
          content: { n: 3 },
          replace: false,
        },
        {
          type: "ACTIVITY_DELTA",
          messageId: "a0",
          activityType: "PLAN",
          patch: [{ op: "add", path: "/l", value: [] }],
        },
        {
          type: "ACTIVITY_DELTA",
          messageId: "a0",
          activityType: "NO",
          patch: [{ op: "remove", path: "/x" }],
          metadata: { late: 1 },
        },
        { type: "ACTIVITY_SNAPSHOT", messageId: "h0", activityType: "PLAN", content: {} },
        result("t0", "hc0"),
      ],
    ],
    [
      "metadata of messages and calls",
      [
        {
          type: "TEXT_MESSAGE_START",
          messageId: "m0",
          role: "assistant",
          metadata: { a: 1, b: { c: 1 } },
        },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: "x", metadata: { a: 2 } },
        { type: "TEXT_MESSAGE_END", messageId: "m0", metadata: { b: { d: 1 } } },
        { type: "TOOL_CALL_START", toolCallId: "c0", toolCallName: "n", metadata: { a: 1 } },
        { type: "TOOL_CALL_ARGS", toolCallId: "c0", delta: "{}", metadata: { b: 1 } },
        { type: "TOOL_CALL_END", toolCallId: "c0", metadata: { a: 2 } },
        { ...result("t0", "c0"), metadata: { ms: 3 } },
      ],
    ],
    [
      "a snapshot of the messages in the middle of one",
      [
        { type: "TEXT_MESSAGE_START", messageId: "m0", role: "assistant" },
        { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: "lost " },
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [
            { id: "m0", role: "assistant", content: "told " },
            { id: "u0", role: "user", content: "Hi!" },
            { id: "new", role: "user", content: "?" },
          ],
        },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: "more" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "gone" },
        { type: "TEXT_MESSAGE_END", messageId: "m0" },
        { type: "TEXT_MESSAGE_END", messageId: "m1" },
      ],
    ],
    ...[null, ["PLAN"], ["OTHER"], 7].map((types): [string, Loose[]] => [
      `a snapshot that owns the activities ${JSON.stringify(types)}`,
      [
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [{ id: "r9", role: "reasoning", content: "why" }],
          metadata: { "@ag-ui/client": { authoritativeActivityTypes: types } },
        },
      ],
    ]),
    [
      "a snapshot with activities and a note of another kind",
      [
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [{ id: "a9", role: "activity", activityType: "X", content: {} }],
          metadata: { "@ag-ui/client": { other: 1 } },
        },
      ],
    ],
    [
      "a snapshot with a broken note",
      [{ type: "MESSAGES_SNAPSHOT", messages: [], metadata: { "@ag-ui/client": 1 } }],
    ],
  ])("folds %s as the client does", async ([, events]) => {
    const initial = structuredClone(history);
    const before = JSON.stringify(initial);
    const told = run(...events);
    const beforeEvents = JSON.stringify(told);
    expect(fold(initial, told).messages).toEqual(await officialMessages(history, told));
    expect(JSON.stringify(initial)).toBe(before);
    expect(JSON.stringify(told)).toBe(beforeEvents);
  });

  test("lets only an assistant make calls", () => {
    const claimed = { ...history[1], role: "user", content: "" } as Message;
    const { messages } = fold([claimed], call("hc0"));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(messages[0]).toBe(claimed);
    expect(messages[1]).toMatchObject({ toolCalls: [{ id: "hc0" }] });
  });

  test("keeps the content of an activity an object, whatever a patch moves there", () => {
    const patch = [{ op: "copy", from: "/list", path: "" }];
    const { messages } = fold(history, [
      { type: "ACTIVITY_DELTA", messageId: "ha", activityType: "PLAN", patch },
    ]);
    expect(messages.find(({ id }) => id === "ha")?.content).toEqual({ n: 1, list: [] });
  });

  test("folds any valid run as the client does, read or not on the way", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, fc.boolean(), async (events, isRead) => {
        const told = run(...(events as Loose[]));
        const reducer = createReducer(history);
        const reads: [readonly Message[], string][] = [];
        for (const event of told) {
          reducer.apply(event as unknown as BaseEvent);
          if (isRead) reads.push([reducer.messages, JSON.stringify(reducer.messages)]);
        }
        expect(reducer.messages).toEqual(await officialMessages(history, told));
        expect(reducer.open()).toEqual([]);
        for (const [messages, then] of reads) expect(JSON.stringify(messages)).toBe(then);
      }),
      { numRuns: 300 },
    );
  });

  test("adds the messages that RUN_STARTED brings, unless they are known", () => {
    const input = { messages: [history[0], { id: "n", role: "user", content: "new" }] };
    const events: Loose[] = [{ type: "RUN_STARTED", threadId: "t", runId: "r", input }];
    expect(fold(history, events).messages.map(({ id }) => id)).toEqual([
      ...history.map(({ id }) => id),
      "n",
    ]);
  });

  test("keeps the list it was given as it was then", () => {
    const given = [...history];
    const reducer = createReducer(given);
    given.length = 1;
    for (const event of text("m0", "more")) reducer.apply(event as unknown as BaseEvent);
    expect(reducer.messages.map(({ id }) => id)).toEqual([...history.map(({ id }) => id), "m0"]);
  });

  test("finds each of a long history, however late it is asked for", () => {
    const long = Array.from({ length: 30 }, (_, index): Message => {
      return { id: `l${index}`, role: "assistant", content: "" };
    });
    const told = [...Array(12).keys()].flatMap((index) => [
      ...text(`n${index}`, "new"),
      ...text(`l${index * 2}`, "old"),
    ]);
    const { messages } = fold(long, told);
    expect(messages).toHaveLength(42);
    for (const index of Array(12).keys()) {
      expect(messages[index * 2]).toMatchObject({ id: `l${index * 2}`, content: "old" });
      expect(messages[30 + index]).toMatchObject({ id: `n${index}`, content: "new" });
    }
  });

  test("ignores what it does not know", () => {
    const odd = { type: "NEW_IN_2_0", messageId: "m0", delta: "x" } as unknown as Loose;
    const orphan: Loose = { type: "TEXT_MESSAGE_CONTENT", messageId: "m0", delta: "x" };
    expect(fold([], [odd, orphan]).messages).toEqual([]);
  });

  test("lists what is open, owners first, with the events that opened it", () => {
    const events: Loose[] = [
      { type: "RUN_STARTED", threadId: "t", runId: "r" },
      { type: "TOOL_CALL_START", toolCallId: "c0", toolCallName: "n" },
      { type: "TEXT_MESSAGE_START", messageId: "m0", role: "assistant" },
      { type: "STEP_STARTED", stepName: "plan" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s0", name: "outer" },
      { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "inner", parentSubagentRunId: "s0" },
      { type: "STEP_STARTED", stepName: "plan", subagentRunId: "s1" },
      { type: "REASONING_MESSAGE_START", messageId: "r0", role: "reasoning" },
      { type: "REASONING_START", messageId: "r0" },
      { type: "STEP_FINISHED", stepName: "plan" },
      ...text("m1", "whole"),
    ];
    const reducer = fold([], events);
    expect(reducer.open().map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      "subagent s0",
      "subagent s1",
      "step plan",
      "reasoning r0",
      "reasoning-message r0",
      "text m0",
      "tool-call c0",
    ]);
    expect(reducer.open().find(({ kind }) => kind === "step")?.event).toBe(events[6]);
    reducer.apply({ type: EventType.RUN_ERROR, message: "no" });
    expect(reducer.open()).toEqual([]);
  });

  test("stops keeping deltas beyond its bound and marks the message", () => {
    const chunk = "x".repeat(1_000);
    const reducer = createReducer(history, { maxBytes: 5_000 });
    const told = [
      ...text("m0", ...Array<string>(100).fill(chunk)),
      ...call("c0", "m1"),
      result("t0", "c0"),
    ];
    for (const event of told) reducer.apply(event as unknown as BaseEvent);
    const [m0, m1, t0] = reducer.messages.slice(history.length) as AssistantMessage[];
    expect(m0!.content!.length).toBeGreaterThanOrEqual(4_000);
    expect(m0!.content!.length).toBeLessThanOrEqual(6_000);
    expect(m0!.metadata).toEqual({ truncated: true });
    expect(m1!.toolCalls).toMatchObject([{ id: "c0", metadata: { truncated: true } }]);
    expect(m1!.metadata).toEqual({ truncated: true });
    expect(t0).toMatchObject({ toolCallId: "c0", content: "", metadata: { truncated: true } });
    expect(reducer.messages.slice(0, history.length)).toEqual(history);
  });

  test("holds a bounded amount whatever a run sends", () => {
    const reducer = createReducer([], { maxBytes: 10_000 });
    const note = { long: "x".repeat(100) };
    for (let i = 0; i < 5_000; i++) {
      const id = String(i);
      const told: Loose[] = [
        ...text(id, "text"),
        ...call(`c${i}`, id),
        result(`t${i}`, `c${i}`),
        { type: "ACTIVITY_SNAPSHOT", messageId: `a${i}`, activityType: "A", content: note },
        { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "A", content: { [id]: note } },
        {
          type: "ACTIVITY_DELTA",
          messageId: "a",
          activityType: "A",
          patch: [{ op: "add", path: `/${id}x`, value: note }],
        },
        { type: "TEXT_MESSAGE_END", messageId: "0", metadata: { [id]: note } },
      ];
      for (const event of told) reducer.apply(event as unknown as BaseEvent);
    }
    expect(JSON.stringify(reducer.messages).length).toBeLessThan(40_000);
    expect(reducer.bytes).toBeLessThan(25_000);
  });

  test("counts what the run added, not what was there", () => {
    const long: Message[] = [{ id: "u", role: "user", content: "x".repeat(100_000) }];
    expect(fold(long, text("m0", "y".repeat(1_000))).bytes).toBeLessThan(1_200);
    const restated = [{ type: "MESSAGES_SNAPSHOT", messages: long } as const, ...text("m0", "y")];
    expect(fold(long, restated).bytes).toBeLessThan(200);
  });

  test("counts an activity that is shown again once", () => {
    const show: Loose = {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "ha",
      activityType: "PLAN",
      content: { text: "x".repeat(1_000) },
    };
    expect(
      fold(
        history,
        Array.from({ length: 50 }, () => show),
      ).bytes,
    ).toBeLessThan(1_500);
  });
});
