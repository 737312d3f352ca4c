import { EventType } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { faults, run, startGuard } from "./guard-kit.ts";

describe("strict mode", () => {
  test("ends the run at the first repair, in order, and names it", () => {
    const { guard, events } = startGuard({ strict: true });
    guard.push({ type: "TEXT_MESSAGE_START", messageId: "m" });
    guard.push({ type: "TOOL_CALL_END", toolCallId: "c" });
    guard.push("more");
    guard.complete();
    expect(events.slice(2)).toEqual([
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      {
        type: "RUN_ERROR",
        code: "protocol-violation",
        message: "The agent broke the protocol: not-open, TOOL_CALL_END.",
      },
    ]);
    expect(faults(events)).toEqual([]);
  });

  test("sees what was left open", () => {
    const { events } = run([{ type: "STEP_STARTED", stepName: "a" }], { strict: true });
    expect(events.slice(2)).toMatchObject([
      { type: "STEP_FINISHED", stepName: "a" },
      { type: "RUN_ERROR", code: "protocol-violation" },
    ]);
  });

  test("cannot fail at failing", () => {
    const ending = { interrupts: [], usage: [{ inputTokens: -1, outputTokens: 2 }] };
    const { guard, events } = startGuard({ strict: true, ending });
    guard.fail({ message: "Broken.", code: "agent-error" });
    expect(events.at(-1)).toEqual({
      type: "RUN_ERROR",
      message: "Broken.",
      code: "agent-error",
      usage: [{ outputTokens: 2 }],
    });
  });

  test("lets text, chunks and a missing end pass", () => {
    const { events } = run(["a", { type: "REASONING_MESSAGE_CHUNK", delta: "b" }], {
      strict: true,
    });
    expect(events.at(-1)!.type).toBe(EventType.RUN_FINISHED);
  });
});

describe("a token", () => {
  test("passes as the very object the agent made", () => {
    const { guard, events } = startGuard();
    guard.push({ type: "TEXT_MESSAGE_START", messageId: "m" });
    guard.push({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n" });
    const tokens = [
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", timestamp: 1 },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "}" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "c", metadata: { a: 1 } },
    ];
    for (const token of tokens) guard.push(token);
    const passed = events.slice(3);
    expect(passed).toHaveLength(tokens.length);
    for (const [i, token] of tokens.entries()) expect(passed[i]).toBe(token);
  });

  test.for([
    [{ delta: 5 }],
    [{ timestamp: 1.5 }],
    [{ subagentRunId: "s" }],
    [{ metadata: null }],
    [{ extra: 10n }],
    [{ messageId: "other" }],
  ])("gets a second look when it is odd: %o", ([odd]) => {
    const token = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" };
    const { events, guard } = run([
      { type: "TEXT_MESSAGE_START", messageId: "m" },
      token,
      token,
      { ...token, ...odd },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    expect(guard.repairs.size).toBe(1);
    expect(faults(events)).toEqual([]);
  });

  test("does not slip past the end of its message", () => {
    const token = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" };
    const end = { type: "TEXT_MESSAGE_END", messageId: "m" };
    const { events, guard } = run([
      { ...end, type: "TEXT_MESSAGE_START" },
      token,
      token,
      end,
      token,
    ]);
    expect(faults(events)).toEqual([]);
    expect([...guard.repairs]).toEqual([["reopened", 1]]);
  });
});

describe("the oracle of these tests", () => {
  test("refuses what is wrong", () => {
    const lone: never[] = [];
    expect(faults(lone)).toContain("0 terminal events");
    const ids = { threadId: "thread", runId: "run" };
    const wrong = [
      { type: EventType.RUN_STARTED, ...ids },
      { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m", delta: 5 },
      { type: EventType.RUN_FINISHED, ...ids },
    ];
    const found = faults(wrong).join("\n");
    expect(found).toContain("1.0.0:");
    expect(found).toContain("0.0.59:");
    expect(found).toContain("expected string");
  });
});
