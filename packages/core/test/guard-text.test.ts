import { describe, expect, test } from "vitest";
import {
  args,
  body,
  call,
  callEnd,
  content,
  end,
  result,
  start,
  step,
  stepEnd,
  subagent,
  subagentEnd,
  types,
} from "./guard-kit.ts";

describe("text without events", () => {
  test("becomes one assistant message, without a repair", () => {
    const { events, kinds } = body("Hello ", "", "world");
    expect(events).toMatchObject([
      { type: "TEXT_MESSAGE_START", role: "assistant", messageId: expect.any(String) },
      { type: "TEXT_MESSAGE_CONTENT", delta: "Hello " },
      { type: "TEXT_MESSAGE_CONTENT", delta: "world" },
      { type: "TEXT_MESSAGE_END" },
    ]);
    expect(new Set(events.map((event) => event.messageId)).size).toBe(1);
    expect(kinds).toEqual([]);
  });

  test("shares its message with chunks that have no id", () => {
    const { events, kinds } = body("a", { type: "TEXT_MESSAGE_CHUNK", delta: "b" }, "c");
    expect(events.map((event) => event.delta)).toEqual([undefined, "a", "b", "c", undefined]);
    expect(kinds).toEqual([]);
  });

  test.for([
    [{ type: "STATE_SNAPSHOT", snapshot: {} }],
    [{ type: "STATE_DELTA", delta: [] }],
    [{ type: "CUSTOM", name: "n", value: 1 }],
    [{ type: "RAW", event: 1 }],
    [{ type: "ACTIVITY_SNAPSHOT", messageId: "x", activityType: "t", content: {} }],
    [{ ...step, subagentRunId: "s" }],
  ])("goes on in the same message after %o", ([event]) => {
    const { events } = body("a", event, "b");
    expect(types(events).filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(1);
  });

  test.for([
    [start],
    [{ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "x" }],
    [{ type: "TEXT_MESSAGE_CHUNK", role: "user", delta: "x" }],
    [{ type: "REASONING_START", messageId: "x" }],
    [{ type: "REASONING_MESSAGE_CHUNK", delta: "x" }],
    [call],
    [{ type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "n" }],
    [result],
    [step],
    [{ type: "MESSAGES_SNAPSHOT", messages: [] }],
  ])("ends before %o", ([event]) => {
    const { events } = body("a", event);
    expect(types(events).slice(0, 3)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
  });

  test("of a subagent is in a separate message", () => {
    const chunk = { type: "TEXT_MESSAGE_CHUNK", delta: "b", subagentRunId: "s" };
    const { events, kinds } = body(subagent, "a", chunk, "c", chunk, subagentEnd);
    const [mine, theirs] = [undefined, "s"].map((owner) =>
      events.filter((e) => "delta" in e && e.subagentRunId === owner).map((e) => e.messageId),
    );
    expect(new Set(mine).size).toBe(1);
    expect(new Set(theirs).size).toBe(1);
    expect(mine![0]).not.toBe(theirs![0]);
    expect(types(events).indexOf("TEXT_MESSAGE_END")).toBe(
      types(events).indexOf("SUBAGENT_FINISHED") - 1,
    );
    expect(kinds).toEqual([]);
  });
});

describe("text of several subagents", () => {
  test("is kept apart", () => {
    const of = (subagentRunId: string, delta: string): object => ({
      type: "TEXT_MESSAGE_CHUNK",
      delta,
      subagentRunId,
    });
    const { events, kinds } = body(of("s", "a"), of("s", "b"), of("t", "c"), of("s", "d"));
    const said = events.filter((event) => "delta" in event);
    expect(said.map((event) => [event.subagentRunId, event.delta])).toEqual([
      ["s", "a"],
      ["s", "b"],
      ["t", "c"],
      ["s", "d"],
    ]);
    expect(new Set(said.map((event) => event.messageId)).size).toBe(2);
    expect(kinds).toEqual([]);
  });
});

describe("chunks", () => {
  const chunk = { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "hi" };

  test("of a message become start, content and end", () => {
    const { events, kinds } = body({ ...chunk, name: "n" }, chunk);
    expect(events).toEqual([{ ...start, name: "n" }, content, content, end]);
    expect(kinds).toEqual([]);
  });

  test("with an id end with the next event of their lane, as in the official client", () => {
    const custom = { type: "CUSTOM", name: "n", value: 1 };
    const { events, kinds } = body(chunk, custom, chunk);
    expect(events).toEqual([start, content, end, custom, start, content, end]);
    expect(kinds).toEqual([]);
    expect(types(body(chunk, { ...custom, subagentRunId: "s" }, chunk).events)).toHaveLength(5);
  });

  test.for([
    [{ type: "RAW", event: 1 }],
    [{ type: "ACTIVITY_DELTA", messageId: "x", activityType: "t", patch: [] }],
    [subagent],
  ])("go on after %o", ([event]) => {
    const { events } = body(chunk, event, chunk);
    expect(types(events).filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(1);
  });

  test("carry their metadata and origin", () => {
    const { events } = body({ ...chunk, metadata: { a: 1 }, rawEvent: { b: 2 }, extra: 3 });
    expect(events).toEqual([
      { ...start, metadata: { a: 1 } },
      { ...content, metadata: { a: 1 }, rawEvent: { b: 2 }, extra: 3 },
      end,
    ]);
  });

  test("without text leave nothing behind", () => {
    expect(body({ type: "TEXT_MESSAGE_CHUNK", delta: "" }, { type: "TEXT_MESSAGE_CHUNK" })).toEqual(
      {
        events: [],
        kinds: [],
      },
    );
  });

  test("of reasoning bring their span along", () => {
    const { events, kinds } = body({ type: "REASONING_MESSAGE_CHUNK", delta: "hm" }, "So:");
    expect(types(events).slice(0, 5)).toEqual([
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
    ]);
    expect(events[1]).toMatchObject({ role: "reasoning", messageId: events[0]!.messageId });
    expect(kinds).toEqual([]);
  });

  test("of reasoning stay in the span the agent opened", () => {
    const span = { type: "REASONING_START", messageId: "span" };
    const spanEnd = { ...span, type: "REASONING_END" };
    const { events, kinds } = body(
      span,
      { type: "REASONING_MESSAGE_CHUNK", messageId: "x", delta: "hm" },
      spanEnd,
    );
    expect(types(events).filter((type) => type === "REASONING_START")).toHaveLength(1);
    expect(events.at(-1)).toEqual(spanEnd);
    expect(kinds).toEqual([]);
  });

  test("of a tool call become start, arguments and end", () => {
    const first = { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "search" };
    const { events, kinds } = body(first, { type: "TOOL_CALL_CHUNK", delta: "{}" });
    expect(events).toEqual([call, args, callEnd]);
    expect(kinds).toEqual([]);
  });

  test("of a tool call without an id get one", () => {
    const { events } = body({ type: "TOOL_CALL_CHUNK", toolCallName: "search", delta: "{}" });
    expect(events[0]).toEqual({ ...call, toolCallId: expect.any(String) });
  });

  test("of a tool call without a name are kept as RAW", () => {
    const nameless = { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: "{}" };
    const { events, kinds } = body(nameless);
    expect(events).toEqual([{ type: "RAW", event: nameless, source: "agent" }]);
    expect(kinds).toEqual(["malformed"]);
  });

  test("of a tool call that was interrupted reopen it under its name", () => {
    const first = { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "search" };
    const more = { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: "{}" };
    const { events, kinds } = body(first, step, more, stepEnd);
    expect(events).toEqual([call, callEnd, step, call, args, callEnd, stepEnd]);
    expect(kinds).toEqual(["reopened"]);
  });

  test("that contradict their message are believed only in their text", () => {
    const { events, kinds } = body(chunk, { ...chunk, role: "user" });
    expect(events).toEqual([start, content, content, end]);
    expect(kinds).toEqual(["chunk-conflict"]);
  });

  test("join a message that was started by hand", () => {
    const { events, kinds } = body(start, chunk, end);
    expect(events).toEqual([start, content, end]);
    expect(kinds).toEqual(["duplicate-start"]);
  });

  test("of reasoning do not open a span twice", () => {
    const span = { type: "REASONING_START", messageId: "x", subagentRunId: "s" };
    const { events, kinds } = body(
      span,
      { type: "REASONING_MESSAGE_CHUNK", messageId: "x", delta: "hm" },
      { ...span, type: "REASONING_END" },
    );
    expect(types(events).filter((type) => type === "REASONING_START")).toHaveLength(1);
    expect(kinds).toEqual([]);
  });

  test("begin again when the agent ended their message by name", () => {
    const theirs = { ...chunk, subagentRunId: "s" };
    const { events } = body(theirs, end, { ...theirs, messageId: undefined });
    expect(types(events)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
    expect(events[3]!.messageId).not.toBe("m");
  });

  test("end with the next token of their lane, whatever was sent in another", () => {
    const theirs = { type: "TEXT_MESSAGE_START", messageId: "t", subagentRunId: "s" };
    const token = { type: "TEXT_MESSAGE_CONTENT", messageId: "t", delta: "x" };
    const tagged = { ...token, subagentRunId: "s" };
    const last = { type: "TEXT_MESSAGE_END", messageId: "t" };
    const { events, kinds } = body(theirs, chunk, tagged, tagged, token, last);
    expect(events).toEqual([theirs, start, content, tagged, tagged, end, token, last]);
    expect(kinds).toEqual([]);
  });
});

describe("thoughts", () => {
  const open = { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" };
  const think = { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "hm" };
  const close = { type: "REASONING_MESSAGE_END", messageId: "r" };
  const message = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];

  test("in a row pass as the objects they are, whatever else goes on", () => {
    const values = [open, think, think, call, think, args, think, args, think, callEnd, close];
    const { events, kinds } = body(...values, result);
    expect(kinds).toEqual([]);
    expect(events.every((event, index) => event === [...values, result][index])).toBe(true);
  });

  test("end the text before each of them", () => {
    const { events, kinds } = body(open, think, think, "a", think, think, "b", think, close);
    const [first, go, last] = [open.type, think.type, close.type];
    expect(types(events)).toEqual([first, go, go, ...message, go, go, ...message, go, last]);
    expect(kinds).toEqual([]);
  });

  test("end the text of the owner that sent them", () => {
    const theirs = { ...think, subagentRunId: "s" };
    const { events, kinds } = body({ ...open, subagentRunId: "s" }, "a", theirs, theirs, think);
    expect(types(events).slice(1, 7)).toEqual([
      ...message.slice(0, 2),
      theirs.type,
      theirs.type,
      "TEXT_MESSAGE_END",
      think.type,
    ]);
    expect(kinds).toEqual(["left-open"]);
  });

  test("of a message that has ended start it again", () => {
    const { events, kinds } = body(open, think, think, close, think, close);
    expect(events).toEqual([open, think, think, close, open, think, close]);
    expect(kinds).toEqual(["reopened"]);
  });
});
