import { describe, expect, test } from "vitest";
import { faults, run, tracker } from "./guard-kit.ts";

const custom = { type: "CUSTOM", name: "n", value: 1 };
const id = expect.any(String);

/** What the guard makes of one value, and what it calls that. */
function fix(...values: unknown[]): { events: unknown[]; kinds: string[] } {
  const { events, guard } = run(values);
  expect(faults(events)).toEqual([]);
  return { events: events.slice(1, -1), kinds: [...guard.repairs.keys()] };
}

describe("what is no event", () => {
  test.for<[unknown]>([
    [null],
    [undefined],
    [7],
    [[]],
    [{}],
    [{ type: 1 }],
    [() => 1],
    [new Date(0)],
  ])("is dropped: %o", ([value]) => {
    expect(fix(value)).toEqual({ events: [], kinds: ["not-an-event"] });
  });

  test("is kept as RAW when it has an unknown type", () => {
    const event = { type: "PROGRESS", percent: 5, subagentRunId: "s" };
    expect(fix(event)).toEqual({
      events: [{ type: "RAW", event, source: "agent", subagentRunId: "s" }],
      kinds: ["unknown-type"],
    });
  });

  test("cannot throw when it is looked at", () => {
    const trap = Object.defineProperty({}, "type", {
      enumerable: true,
      get() {
        throw new Error("No.");
      },
    });
    expect(fix(trap)).toEqual({ events: [], kinds: ["not-an-event"] });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(fix(proxy)).toEqual({ events: [], kinds: ["not-an-event"] });
  });

  test("is read as its JSON when it is an instance of a class", () => {
    class Event {
      toJSON(): object {
        return custom;
      }
    }
    expect(fix(new Event())).toEqual({ events: [custom], kinds: [] });
  });
});

describe("the events of AG-UI 0.0.x", () => {
  test("become reasoning", () => {
    const { events, guard } = run([
      { type: "THINKING_START", title: "Plan" },
      { type: "THINKING_TEXT_MESSAGE_START" },
      { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "hm" },
      { type: "THINKING_TEXT_MESSAGE_END" },
      { type: "THINKING_END" },
    ]);
    expect(events.slice(1, -1)).toEqual([
      { type: "REASONING_START", messageId: id },
      { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: "hm" },
      { type: "REASONING_MESSAGE_END", messageId: id },
      { type: "REASONING_END", messageId: id },
    ]);
    expect(faults(events)).toEqual([]);
    expect([...guard.repairs]).toEqual([["legacy-thinking", 5]]);
  });
});

describe("a field", () => {
  test.for([
    [{ ...custom, rawEvent: null }],
    [{ ...custom, metadata: null }],
    [{ ...custom, subagentRunId: null }],
    [{ ...custom, timestamp: null }],
  ])("that is null for no reason is left out: %o", ([event]) => {
    expect(fix(event)).toEqual({ events: [custom], kinds: ["null-field"] });
  });

  test.for([
    [{ type: "STATE_SNAPSHOT", snapshot: null }],
    [{ type: "RAW", event: null }],
    [{ ...custom, value: null }],
  ])("may be null where null is a value: %o", ([event]) => {
    expect(fix(event)).toEqual({ events: [event], kinds: [] });
  });

  test.for<[object, object, string]>([
    [{ ...custom, timestamp: 1.9 }, { ...custom, timestamp: 1 }, "wrong-type"],
    [{ ...custom, timestamp: "now" }, custom, "wrong-type"],
    [{ ...custom, metadata: [] }, custom, "wrong-type"],
    [{ ...custom, rawEvent: 10n }, custom, "not-json"],
    [{ ...custom, rawEvent: Number.NaN }, custom, "wrong-type"],
    [{ ...custom, extra: 10n }, custom, "not-json"],
    [{ type: "CUSTOM", name: "n" }, { ...custom, value: null }, "missing-field"],
    [{ ...custom, name: 5 }, { ...custom, name: "5" }, "wrong-type"],
    [{ type: "RAW", event: 10n }, { type: "RAW", event: "[bigint that is not JSON]" }, "not-json"],
    [
      { type: "TOOL_CALL_RESULT", toolCallId: "c", content: "" },
      { type: "TOOL_CALL_RESULT", toolCallId: "c", content: "", messageId: id },
      "missing-field",
    ],
    [
      { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "m", content: { ok: true } },
      { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "m", content: '{"ok":true}' },
      "wrong-type",
    ],
    [
      { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "m", content: [{ type: "text" }] },
      { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "m", content: '[{"type":"text"}]' },
      "wrong-type",
    ],
    [
      { type: "ACTIVITY_SNAPSHOT", activityType: "t", content: {} },
      { type: "ACTIVITY_SNAPSHOT", activityType: "t", content: {}, messageId: id },
      "missing-field",
    ],
  ])("is put right: %o", ([event, expected, kind]) => {
    expect(fix(event)).toEqual({ events: [expected], kinds: [kind] });
  });

  test("of a start is filled in", () => {
    expect(fix({ type: "TEXT_MESSAGE_START", role: "tool" }).events[0]).toEqual({
      type: "TEXT_MESSAGE_START",
      messageId: id,
    });
    expect(fix({ type: "REASONING_MESSAGE_START", messageId: "m" }).events[0]).toEqual({
      type: "REASONING_MESSAGE_START",
      messageId: "m",
      role: "reasoning",
    });
    expect(fix({ type: "TOOL_CALL_START" }).events[0]).toEqual({
      type: "TOOL_CALL_START",
      toolCallId: id,
      toolCallName: "unknown",
    });
    expect(fix({ type: "SUBAGENT_STARTED" }).events[0]).toEqual({
      type: "SUBAGENT_STARTED",
      subagentRunId: id,
      name: "subagent",
    });
  });

  test.for([
    [{ type: "STATE_SNAPSHOT" }],
    [{ type: "STATE_DELTA", delta: {} }],
    [{ type: "STATE_DELTA", delta: [{ op: "jump", path: "/a" }] }],
    [{ type: "STATE_DELTA", delta: [{ op: "add", path: "a", value: 1 }] }],
    [{ type: "STATE_DELTA", delta: [{ op: "move", from: "", path: "/a" }] }],
    [{ type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "t", content: [] }],
    [{ type: "ACTIVITY_DELTA", messageId: "m", activityType: "t", patch: "x" }],
    ...[
      { op: "add", path: "", value: [null] },
      { op: "replace", path: "", value: "text" },
      { op: "remove", path: "" },
    ].map((op): [object] => [
      { type: "ACTIVITY_DELTA", messageId: "m", activityType: "t", patch: [op] },
    ]),
    [{ type: "MESSAGES_SNAPSHOT", messages: {} }],
    [{ type: "STEP_STARTED" }],
    [{ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: {} }],
    [{ type: "REASONING_ENCRYPTED_VALUE", subtype: "x", entityId: "e", encryptedValue: "v" }],
  ])("that cannot be put right leaves the event as RAW: %o", ([event]) => {
    expect(fix(event)).toEqual({
      events: [{ type: "RAW", event, source: "agent" }],
      kinds: ["malformed"],
    });
  });

  test("that cannot be written leaves a note", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    for (const snapshot of [loop, { count: 10n }]) {
      expect(fix({ type: "STATE_SNAPSHOT", snapshot })).toEqual({
        events: [{ type: "RAW", event: "[STATE_SNAPSHOT that is not JSON]", source: "agent" }],
        kinds: ["not-json"],
      });
    }
  });

  test("holds what a reader of JSON would see", () => {
    const value = { at: new Date(0), list: [undefined], not: Number.NaN };
    expect(fix({ ...custom, value })).toEqual({
      events: [{ ...custom, value: { at: "1970-01-01T00:00:00.000Z", list: [null], not: null } }],
      kinds: [],
    });
  });

  test("of the end is put right, so that the run ends", () => {
    const ids = { threadId: "thread", runId: "run" };
    const own = { type: "RUN_FINISHED", ...ids, result: null, outcome: { type: "?" }, usage: [7] };
    expect(run([own]).events.at(-1)).toEqual({ type: "RUN_FINISHED", ...ids, usage: [] });
    expect(run([{ type: "RUN_ERROR" }]).events.at(-1)).toEqual({
      type: "RUN_ERROR",
      message: "The agent failed.",
    });
  });
});

describe("a snapshot of the messages", () => {
  test("keeps what is a message", () => {
    const user = { id: "u", role: "user", content: [{ type: "text", text: "hi" }] };
    const answer = { id: "a", role: "assistant", content: null, toolCalls: null };
    const messages = [user, answer, { role: "user" }, 7, { id: "x", role: "bot", content: "" }];
    const { events, kinds } = fix({ type: "MESSAGES_SNAPSHOT", messages });
    expect(events).toEqual([
      { type: "MESSAGES_SNAPSHOT", messages: [user, { id: "a", role: "assistant" }] },
    ]);
    expect(kinds.toSorted()).toEqual(["null-field", "wrong-type"]);
  });

  test("knows of no calls but an assistant's", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const user = { id: "u", role: "user", content: "hi" };
    const messages = [{ ...user, toolCalls: [call], subagentRunId: "s" }];
    const { events, kinds } = fix(
      { type: "MESSAGES_SNAPSHOT", messages },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "g" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
    );
    expect(events[0]).toEqual({
      type: "MESSAGES_SNAPSHOT",
      messages: [{ ...user, subagentRunId: "s" }],
    });
    expect(events[1]).toEqual({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "g" });
    expect(kinds).toEqual(["wrong-type"]);
  });
});

describe("state", () => {
  test("is followed", () => {
    const { events, state, guard } = run([
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: 2 }] },
    ]);
    expect(state.value).toEqual({ n: 2 });
    expect(events).toHaveLength(4);
    expect(guard.repairs.size).toBe(0);
  });

  test("is sent whole when a patch does not apply", () => {
    const patch = [{ op: "replace", path: "/missing/n", value: 2 }];
    const { events, guard } = run([{ type: "STATE_DELTA", delta: patch, subagentRunId: "s" }], {
      state: tracker({ n: 1 }),
    });
    expect(events[1]).toEqual({
      type: "STATE_SNAPSHOT",
      snapshot: { n: 1 },
      subagentRunId: "s",
    });
    expect([...guard.repairs]).toEqual([["state-delta", 1]]);
  });
});
