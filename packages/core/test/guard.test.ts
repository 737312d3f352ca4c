import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import { describe, expect, test } from "vitest";
import { EarlierCalls } from "../src/guard/calls/earlier-calls.ts";
import {
  call,
  callEnd,
  content,
  end,
  faults,
  finished,
  result,
  run,
  start,
  started,
  startGuard,
  step,
  stepEnd,
  subagent,
  subagentEnd,
  types,
} from "./guard-kit.ts";

describe("the start of a run", () => {
  test("is added when the agent leaves it out, which is no fault", () => {
    const { events, guard } = run([start, end]);
    expect(events[0]).toEqual(started);
    expect(events.at(-1)).toEqual(finished);
    expect(guard.repairs.size).toBe(0);
  });

  test("is there even when the agent sends nothing at all", () => {
    expect(run([]).events).toEqual([started, finished]);
  });

  test("comes before an error that is the agent's first word", () => {
    const error = { type: "RUN_ERROR", message: "No." };
    expect(run([error]).events).toEqual([started, error]);
  });

  test("is the agent's own when it sends one, without the input", () => {
    const own = { ...started, parentRunId: "p", timestamp: 1, metadata: { a: 1 } };
    const old = { ...own, protocolVersion: undefined, input: { messages: [], secret: 1 } };
    const { events, guard } = run([old]);
    expect(events[0]).toEqual(own);
    expect(guard.repairs.size).toBe(0);
  });

  test("bears the ids of the run", () => {
    const { events, guard } = run([
      { ...started, runId: "other" },
      { ...finished, threadId: "x" },
    ]);
    expect(events).toEqual([started, finished]);
    expect(guard.repairs.get("run-ids")).toBe(2);
  });

  test("happens once", () => {
    const { events, guard } = run([started, "a", started, "b"]);
    expect(types(events).filter((type) => type === "RUN_STARTED")).toHaveLength(1);
    expect(guard.repairs.get("run-started")).toBe(1);
    expect(guard.repairs.size).toBe(1);
  });
});

describe("the end of a run", () => {
  const open = [
    subagent,
    { ...subagent, subagentRunId: "child", parentSubagentRunId: "s" },
    step,
    { ...step, stepName: "inner" },
    call,
    { type: "REASONING_START", messageId: "r" },
    { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
    start,
  ];
  const closed = [
    end,
    { type: "REASONING_MESSAGE_END", messageId: "r" },
    { type: "REASONING_END", messageId: "r" },
    callEnd,
    { ...stepEnd, stepName: "inner" },
    stepEnd,
  ];

  test("closes everything, inside out", () => {
    const { events, guard } = run([...open, finished]);
    expect(faults(events)).toEqual([]);
    expect(events.slice(1 + open.length)).toEqual([
      ...closed,
      { ...subagentEnd, subagentRunId: "child" },
      subagentEnd,
      { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } },
    ]);
    expect(guard.repairs.get("left-open")).toBe(8);
  });

  test("closes everything when the agent fails", () => {
    const { guard, events } = startGuard();
    for (const event of open) guard.push(event);
    guard.fail({ message: "Broken.", code: "agent-error" });
    const error = { message: "Broken.", code: "agent-error" };
    expect(events.slice(1 + open.length)).toEqual([
      ...closed,
      { type: "SUBAGENT_ERROR", subagentRunId: "child", ...error },
      { type: "SUBAGENT_ERROR", subagentRunId: "s", ...error },
      { type: "RUN_ERROR", ...error },
    ]);
    expect(faults(events)).toEqual([]);
    expect(guard.repairs.size).toBe(0);
  });

  test("is marked as cancelled, without a result", () => {
    const ending = { interrupts: [], usage: [{ inputTokens: 1 }], result: 1 };
    const { guard, events } = startGuard({ ending });
    guard.push(start);
    guard.cancel();
    expect(events.slice(2)).toEqual([
      end,
      { ...finished, outcome: { type: "cancelled" }, usage: [{ inputTokens: 1 }] },
    ]);
    expect(guard.repairs.size).toBe(0);
  });

  test("leaves the agent's own error as it is, and what was open too", () => {
    const error = { type: "RUN_ERROR", message: "Sorry.", code: "vendor/quota" };
    const { events, guard } = run([start, "text", error]);
    expect(types(events).filter((type) => type.endsWith("_END"))).toEqual([]);
    expect(events.at(-1)).toBe(error);
    expect(guard.repairs.size).toBe(0);
  });

  test("happens once, whatever comes after it", () => {
    const { guard, events } = startGuard();
    guard.push(finished);
    guard.push("more");
    guard.push({ type: "RUN_ERROR", message: "late" });
    guard.push(7);
    guard.complete();
    guard.cancel();
    guard.fail({ message: "late", code: "agent-error" });
    expect(events).toEqual([started, finished]);
    expect(guard.ended).toBe(true);
    expect([...guard.repairs]).toEqual([["after-end", 3]]);
  });

  test("carries the result", () => {
    const ending = { interrupts: [], usage: [], result: { at: new Date(0) } };
    expect(run([], { ending }).events.at(-1)).toEqual({
      ...finished,
      result: { at: "1970-01-01T00:00:00.000Z" },
    });
    const nothing = { interrupts: [], usage: [], result: null };
    expect(run([], { ending: nothing }).events.at(-1)).toEqual(finished);
  });

  test("leaves out a result that is not JSON", () => {
    const { events, guard } = run([], { ending: { interrupts: [], usage: [], result: 10n } });
    expect(events.at(-1)).toEqual(finished);
    expect(guard.repairs.get("not-json")).toBe(1);
  });

  test("lists the calls that wait for an answer, in their order", () => {
    const other = { ...call, toolCallId: "a" };
    const third = { ...call, toolCallId: "b" };
    const values = [call, callEnd, other, { ...callEnd, toolCallId: "a" }, result, third];
    expect(run(values).events.at(-1)).toEqual({
      ...finished,
      outcome: { type: "success", pendingToolCallIds: ["a", "b"] },
    });
    const answer = { id: "r", role: "tool", toolCallId: "c", content: "ok" };
    const snapshot = { type: "MESSAGES_SNAPSHOT", messages: [answer] };
    expect(run([call, callEnd, snapshot]).events.at(-1)).toEqual(finished);
    expect(run([call, callEnd, snapshot, finished]).events.at(-1)).toBe(finished);
  });

  test("adds the calls that wait to the agent's own end, and keeps what it names itself", () => {
    const success = (...pendingToolCallIds: string[]) => ({
      ...finished,
      outcome: { type: "success", pendingToolCallIds },
    });
    const calls = [call, callEnd];
    expect(run([...calls, finished]).events.at(-1)).toEqual(success("c"));
    const plain = { ...finished, outcome: { type: "success" } };
    expect(run([...calls, plain]).events.at(-1)).toEqual(success("c"));
    expect(run([...calls, success("x")]).events.at(-1)).toEqual(success("x", "c"));
    const whole = success("c");
    expect(run([...calls, whole]).events.at(-1)).toBe(whole);
    const cancelled = { ...finished, outcome: { type: "cancelled" } };
    expect(run([...calls, cancelled]).events.at(-1)).toBe(cancelled);
    // The agent left the call open, too.
    expect(run([call, finished]).events.at(-1)).toEqual(success("c"));
  });

  test("lists only the calls that are for the client, and knows of those of a snapshot", () => {
    const toolCall = (id: string, name: string) => ({
      id,
      type: "function" as const,
      function: { name, arguments: "{}" },
    });
    const thread = [
      { id: "m", role: "assistant" as const, toolCalls: [toolCall("earlier", "look")] },
    ];
    const calls = {
      isClientTool: (name: string) => name !== "pay",
      earlierCalls: () => new EarlierCalls(thread),
      isSettledCall: () => false,
    };
    const message = {
      id: "m",
      role: "assistant",
      toolCalls: [toolCall("earlier", "look"), toolCall("new", "look"), toolCall("paid", "pay")],
    };
    const snapshot = { type: "MESSAGES_SNAPSHOT", messages: [message] };
    const paid = { ...call, toolCallId: "own", toolCallName: "pay" };
    const { events, guard } = run([snapshot, paid, call, finished], { calls });
    // AG-UI names the calls that the run has started.
    const pendingToolCallIds = ["c"];
    expect(events.at(-1)).toEqual({
      ...finished,
      outcome: { type: "success", pendingToolCallIds },
    });
    expect(guard.pendingCalls()).toEqual(["new", "c"]);
  });

  test("asks what the author wants to know, also in the agent's own words", () => {
    const ending = { interrupts: [{ id: "i", reason: "confirmation" }], usage: [] };
    const outcome = { type: "interrupt", interrupts: ending.interrupts };
    expect(run([call, callEnd], { ending }).events.at(-1)).toEqual({ ...finished, outcome });
    expect(run([finished], { ending }).events.at(-1)).toEqual({ ...finished, outcome });
    // An end that the agent passes on from elsewhere does not withdraw the question.
    const success = { ...finished, outcome: { type: "success" } };
    expect(run([success], { ending }).events.at(-1)).toEqual({ ...finished, outcome });
    const own = { id: "own", reason: "confirmation" };
    const asking = { ...finished, outcome: { type: "interrupt", interrupts: [own] } };
    expect(run([asking], { ending }).events.at(-1)).toMatchObject({
      outcome: { type: "interrupt", interrupts: [own, ...ending.interrupts] },
    });
    const cancelled = { ...finished, outcome: { type: "cancelled" } };
    expect(run([cancelled], { ending }).events.at(-1)).toBe(cancelled);
  });

  test("sums up the usage, also in the agent's own words", () => {
    const usage = [
      { model: "a", inputTokens: 1 },
      { model: "b", inputTokens: 1 },
      { model: "a", inputTokens: 2, outputTokens: 3 },
    ];
    const sum = [
      { model: "a", inputTokens: 3, outputTokens: 3 },
      { model: "b", inputTokens: 1 },
    ];
    const ending = { interrupts: [], usage };
    expect(run([], { ending }).events.at(-1)).toStrictEqual({ ...finished, usage: sum });
    expect(run([finished], { ending }).events.at(-1)).toStrictEqual({ ...finished, usage: sum });
  });

  test("holds when the listener ends the run in the middle", () => {
    const { RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT } = EventType;
    for (const last of [RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT]) {
      const events: BaseEvent[] = [];
      const { guard } = startGuard({
        emit(event) {
          events.push(event);
          if (event.type === last) guard.cancel();
          if (event.type === EventType.TEXT_MESSAGE_END) guard.push("late");
        },
      });
      guard.push("text");
      guard.push("more");
      guard.complete();
      expect(faults(events)).toEqual([]);
      expect(events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    }
  });

  test("holds when the listener answers with more", () => {
    const events: BaseEvent[] = [];
    const { guard } = startGuard({
      emit(event) {
        events.push(event);
        if (event.type === EventType.TEXT_MESSAGE_END) guard.push(content);
        if (event.delta === "stop") guard.push(end);
      },
    });
    for (const value of [start, content, { ...content, delta: "stop" }, content]) guard.push(value);
    guard.complete();
    expect(faults(events)).toEqual([]);
    expect(events.filter((event) => event.delta === "hi")).toHaveLength(3);
  });

  test("holds when the listener ends the message that is on its way", () => {
    const events: BaseEvent[] = [];
    const { guard } = startGuard({
      emit(event) {
        events.push(event);
        if (event.delta === "stop") guard.push(end);
      },
    });
    for (const value of [start, { ...content, delta: "stop" }, content, content]) guard.push(value);
    guard.complete();
    expect(faults(events)).toEqual([]);
    expect([...guard.repairs]).toEqual([["reopened", 1]]);
  });
});
