import type { BaseEvent } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { body, content, end, start, startGuard } from "./guard-kit.ts";

const chunk = { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "hi" };
const theirs = { subagentRunId: "s" };
const tool = { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: "{}" };

describe("chunks of a message that a subagent sends", () => {
  const whole = [start, content, content, end].map((event) => ({ ...event, ...theirs }));

  test("stay its own when one names another subagent", () => {
    const { events, kinds } = body({ ...chunk, ...theirs }, { ...chunk, subagentRunId: "other" });
    expect(events).toEqual(whole);
    expect(kinds).toEqual(["wrong-owner"]);
  });

  test("stay its own when one names none", () => {
    const { events, kinds } = body({ ...chunk, ...theirs }, chunk);
    expect(events).toEqual(whole);
    expect(kinds).toEqual([]);
  });

  test("stay its own after their end, whichever agent sends more", () => {
    const last = { ...end, ...theirs };
    const { events, kinds } = body({ ...start, ...theirs }, { ...content, ...theirs }, last, {
      ...chunk,
      subagentRunId: "other",
    });
    const again = [start, content, end].map((event) => ({ ...event, ...theirs }));
    expect(events).toEqual([...again, ...again]);
    expect(kinds).toContain("wrong-owner");
  });

  test.for([
    ["a message", { ...start, ...theirs }, { ...end, ...theirs }, chunk],
    [
      "a thought",
      { type: "REASONING_MESSAGE_START", messageId: "m", role: "reasoning", ...theirs },
      { type: "REASONING_MESSAGE_END", messageId: "m", ...theirs },
      { type: "REASONING_MESSAGE_CHUNK", messageId: "m", delta: "hm" },
    ],
    [
      "a call",
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t", ...theirs },
      { type: "TOOL_CALL_END", toolCallId: "c", ...theirs },
      tool,
    ],
  ] as const)("stay its own after the end of %s, when one names none", ([, begin, over, more]) => {
    const { events } = body(begin, over, more);
    const owners = events.map(({ subagentRunId }) => subagentRunId);
    expect(events.length).toBeGreaterThan(4);
    expect(owners).toEqual(events.map(() => "s"));
  });

  test("are distinguished from a thought with the same id", () => {
    const thought = { type: "REASONING_MESSAGE_CHUNK", messageId: "m", delta: "hm" };
    const { events } = body({ ...chunk, ...theirs }, { ...thought, subagentRunId: "other" });
    const owners = events.map(({ type, subagentRunId }) => [type, subagentRunId]);
    expect(owners).toContainEqual(["REASONING_MESSAGE_CONTENT", "other"]);
    expect(owners).toContainEqual(["TEXT_MESSAGE_CONTENT", "s"]);
  });
});

describe("a chunk without text", () => {
  test.for([
    ["rawEvent", { rawEvent: { b: 2 } }],
    ["metadata", { metadata: { a: 1 } }],
  ] as const)("carries its %s", ([, more]) => {
    const { events } = body(chunk, { ...chunk, delta: undefined, ...more });
    expect(events).toEqual([start, content, { ...content, delta: "", ...more }, end]);
  });

  test("carries its origin as the first one, too", () => {
    const { events } = body({ ...chunk, delta: "", rawEvent: 1 });
    expect(events).toEqual([start, { ...content, delta: "", rawEvent: 1 }, end]);
  });

  test("opens a message that it names", () => {
    expect(body({ ...chunk, delta: "" }).events).toEqual([start, end]);
    expect(body({ ...chunk, delta: "" }, chunk).events).toEqual([start, content, end]);
  });

  test("adds nothing to a message that was started by hand", () => {
    expect(body(start, { ...chunk, delta: "" }, end).events).toEqual([start, end]);
    const { events } = body(start, { ...chunk, delta: "", rawEvent: 1 }, end);
    expect(events).toEqual([start, { ...content, delta: "", rawEvent: 1 }, end]);
  });
});

describe("the first chunk", () => {
  test("gives the start its time", () => {
    const { events } = body({ ...chunk, timestamp: 5 });
    expect(events).toEqual([{ ...start, timestamp: 5 }, { ...content, timestamp: 5 }, end]);
  });

  test("gives the message its role, and those that repeat it are no conflict", () => {
    expect(body(chunk, { ...chunk, role: "assistant" }).kinds).toEqual([]);
    const user = { ...chunk, role: "user" };
    const { events, kinds } = body(user, user);
    expect(events[0]).toEqual({ ...start, role: "user" });
    expect(kinds).toEqual([]);
    expect(body(user, { ...chunk, role: "assistant" }).kinds).toEqual(["chunk-conflict"]);
  });

  test("gives the message its name, and another one is a conflict", () => {
    const named = { ...chunk, name: "n" };
    expect(body(named, named).kinds).toEqual([]);
    expect(body(named, { ...chunk, name: "other" }).kinds).toEqual(["chunk-conflict"]);
    expect(body(chunk, named).kinds).toEqual(["chunk-conflict"]);
  });
});

describe("chunks of tool calls without an id", () => {
  const bare = { type: "TOOL_CALL_CHUNK", delta: "{}" };
  const ids = (events: readonly BaseEvent[]): Set<unknown> =>
    new Set(events.map((event) => (event as { toolCallId?: unknown }).toolCallId));

  test("go on with the call that is open", () => {
    const { events, kinds } = body({ ...bare, toolCallName: "search" }, bare);
    expect(events.map(({ type }) => type)).toEqual([
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
    ]);
    expect(ids(events).size).toBe(1);
    expect(kinds).toEqual([]);
  });

  test("begin another call with another name", () => {
    const { events } = body({ ...bare, toolCallName: "a" }, { ...bare, toolCallName: "b" });
    expect(ids(events).size).toBe(2);
    expect(events.filter(({ type }) => type === "TOOL_CALL_START")).toMatchObject([
      { toolCallName: "a" },
      { toolCallName: "b" },
    ]);
  });

  test("that name a parent give it to the start only", () => {
    const { events } = body({ ...tool, toolCallName: "a", parentMessageId: "p" }, tool);
    expect(events).toEqual([
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "a", parentMessageId: "p" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
    ]);
  });
});

describe("what is emitted", () => {
  /** For each event of a run whether it was emitted as a bare delta. */
  function bareOnes(...values: readonly unknown[]): unknown[] {
    const seen: unknown[] = [];
    const { guard } = startGuard({
      emit(event, isBare) {
        if ("delta" in event) seen.push([event.delta, isBare ?? false]);
      },
    });
    for (const value of values) guard.push(value);
    guard.complete();
    return seen;
  }

  test.for([
    ["strings", ["a", "b"]],
    ["contents", [start, { ...content, delta: "a" }, { ...content, delta: "b" }]],
    [
      "chunks",
      [
        { ...chunk, delta: "a" },
        { ...chunk, delta: "b" },
      ],
    ],
  ] as const)("is a bare delta from the second of several %s on", ([, values]) => {
    expect(bareOnes(...values)).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  test("is no bare delta with a time, a subagent or anything else in it", () => {
    for (const more of [{ timestamp: 1 }, { metadata: {} }, { rawEvent: 1 }]) {
      const labelled = { ...content, ...more };
      expect(bareOnes(start, content, labelled)).toEqual([
        ["hi", false],
        ["hi", false],
      ]);
    }
  });
});
