import { describe, expect, test } from "vitest";
import {
  args,
  body,
  call,
  callEnd,
  content,
  end,
  start,
  step,
  stepEnd,
  subagent,
  subagentEnd,
} from "./guard-kit.ts";

describe("order", () => {
  test.for<[string, unknown[], unknown[], string[]]>([
    ["content that was never started", [content, end], [start, content, end], ["not-started"]],
    [
      "content after the end",
      [start, end, content, end],
      [start, end, start, content, end],
      ["reopened"],
    ],
    ["a second start", [start, start, content, end], [start, content, end], ["duplicate-start"]],
    ["an end of nothing", [end, callEnd], [], ["not-open"]],
    [
      "arguments of a call nobody named",
      [args, callEnd],
      [{ ...call, toolCallName: "unknown" }, args, callEnd],
      ["not-started"],
    ],
    [
      "arguments after the end of a call",
      [call, callEnd, args],
      [call, callEnd, call, args, callEnd],
      ["reopened"],
    ],
    ["a second start of a call", [call, call, callEnd], [call, callEnd], ["duplicate-start"]],
    ["a step that was never started", [stepEnd], [step, stepEnd], ["not-open"]],
    [
      "a step that is started twice",
      [step, step, stepEnd],
      [step, stepEnd, step, stepEnd],
      ["duplicate-start"],
    ],
    [
      "a second start of a subagent",
      [subagent, subagent, subagentEnd],
      [subagent, subagentEnd],
      ["subagent"],
    ],
    [
      "a subagent that comes back",
      [subagent, subagentEnd, subagent, subagentEnd],
      [subagent, subagentEnd],
      ["subagent", "not-open"],
    ],
    ["an end of no subagent", [subagentEnd], [], ["not-open"]],
    [
      "a subagent of an unknown parent",
      [{ ...subagent, parentSubagentRunId: "x" }, subagentEnd],
      [subagent, subagentEnd],
      ["subagent"],
    ],
    [
      "content without an id",
      [start, { ...content, messageId: undefined }, { ...end, messageId: undefined }],
      [start, content, end],
      ["missing-field"],
    ],
  ])("puts right %s", ([, values, expected, kinds]) => {
    expect(body(...values)).toEqual({ events: expected, kinds });
  });

  test("puts right reasoning", () => {
    const span = { type: "REASONING_START", messageId: "r" };
    const spanEnd = { type: "REASONING_END", messageId: "r" };
    const open = { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" };
    const think = { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "hm" };
    const close = { type: "REASONING_MESSAGE_END", messageId: "r" };
    expect(body(span, span, think, open, close, close, spanEnd, spanEnd)).toEqual({
      events: [span, open, think, close, spanEnd],
      kinds: ["duplicate-start", "not-started", "not-open"],
    });
    expect(body(open, think, close)).toEqual({ events: [open, think, close], kinds: [] });
  });
});

describe("ownership", () => {
  const tagged = { ...content, subagentRunId: "s" };

  test("follows the start of a message", () => {
    expect(body(start, tagged, end)).toEqual({
      events: [start, content, end],
      kinds: ["wrong-owner"],
    });
    const theirs = { ...start, subagentRunId: "s" };
    expect(body(theirs, content, tagged, end).kinds).toEqual([]);
  });

  test("lasts beyond the end of a message", () => {
    const again = { ...start, subagentRunId: "s" };
    expect(body(start, end, again, end).events).toEqual([start, end, start, end]);
  });

  test("is restated by a snapshot of the messages", () => {
    const snapshot = {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "m", role: "assistant", subagentRunId: "s" }],
    };
    const other = { ...start, subagentRunId: "t" };
    const { events, kinds } = body(snapshot, other, end);
    expect(events[1]).toEqual({ ...start, subagentRunId: "s" });
    expect(kinds).toEqual(["wrong-owner"]);
  });

  test("parts a call from a message of someone else", () => {
    const theirs = { ...call, parentMessageId: "m", subagentRunId: "s" };
    const { events, kinds } = body(start, end, theirs, callEnd);
    expect(events[2]).toEqual({ ...call, subagentRunId: "s" });
    expect(kinds).toEqual(["wrong-owner"]);
  });

  test("of a step belongs to the agent that started it", () => {
    const theirs = { ...step, subagentRunId: "s" };
    const { events, kinds } = body(theirs, stepEnd);
    expect(events).toEqual([theirs, { ...stepEnd, subagentRunId: "s" }]);
    expect(kinds).toEqual(["wrong-owner"]);
  });

  test("needs no announcement of the subagent", () => {
    const theirs = [start, content, end].map((event) => ({ ...event, subagentRunId: "s" }));
    expect(body(...theirs)).toEqual({ events: theirs, kinds: [] });
  });

  test("of an activity and of an encrypted value is kept", () => {
    const shown = { type: "ACTIVITY_SNAPSHOT", messageId: "x", activityType: "t", content: {} };
    const patched = { type: "ACTIVITY_DELTA", messageId: "x", activityType: "t", patch: [] };
    const value = {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "tool-call",
      entityId: "c",
      encryptedValue: "e",
    };
    const theirs = { subagentRunId: "s" };
    expect(body(shown, { ...patched, ...theirs }, call, callEnd, { ...value, ...theirs })).toEqual({
      events: [shown, patched, call, callEnd, value],
      kinds: ["wrong-owner"],
    });
  });

  test.for<[string, unknown[]]>([
    [
      "a message that its agent reopens without a tag",
      [{ ...start, subagentRunId: "s" }, end, start, tagged, end],
    ],
    [
      "a call in a message of its owner",
      [
        { ...start, subagentRunId: "s" },
        end,
        { ...call, parentMessageId: "m" },
        { ...args, subagentRunId: "s" },
        callEnd,
      ],
    ],
    [
      "a child that outlives its parent",
      [
        subagent,
        subagentEnd,
        { ...subagent, subagentRunId: "child", parentSubagentRunId: "s" },
        { ...subagentEnd, subagentRunId: "child" },
      ],
    ],
  ])("lets pass %s", ([, values]) => {
    expect(body(...values)).toEqual({ events: values, kinds: [] });
  });

  test("of an activity stays when a snapshot does not replace it", () => {
    const shown = { type: "ACTIVITY_SNAPSHOT", messageId: "x", activityType: "t", content: {} };
    const kept = { ...shown, subagentRunId: "s", replace: false };
    const patched = { type: "ACTIVITY_DELTA", messageId: "x", activityType: "t", patch: [] };
    expect(body(shown, kept, { ...patched, subagentRunId: "s" })).toEqual({
      events: [shown, kept, patched],
      kinds: ["wrong-owner"],
    });
  });

  test("of reasoning holds for its encrypted value", () => {
    const theirs = { messageId: "r", subagentRunId: "s" };
    const value = {
      type: "REASONING_ENCRYPTED_VALUE",
      subtype: "message",
      entityId: "r",
      encryptedValue: "e",
    };
    const open = { type: "REASONING_MESSAGE_START", ...theirs, role: "reasoning" };
    const close = { type: "REASONING_MESSAGE_END", ...theirs };
    expect(body(open, close, { ...value, subagentRunId: "t" })).toEqual({
      events: [open, close, { ...value, subagentRunId: "s" }],
      kinds: ["wrong-owner"],
    });
  });
});
