import type { BaseEvent, Message } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { startGuard } from "../../core/test/guard-kit.ts";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { randomRun } from "../../core/test/random-run.ts";

/** A run that can be cut anywhere: one entry of the log per event. */
export interface ResumeRun {
  readonly events: readonly BaseEvent[];
  readonly history: readonly Message[];
  /** How far a run gets on before its client is back. */
  readonly lag: number;
}

/** With this for `runLogBytes`, a long note makes a run store how far it has come. */
export const checkpointBytes = 40_000;
const long = "x".repeat(checkpointBytes / 4 + 1);

const ids = { threadId: "thread", runId: "run" };

const histories: readonly (readonly Message[])[] = [
  [],
  [{ id: "u", role: "user", content: "hi" }],
  [
    { id: "u0", role: "user", content: [{ type: "text", text: "hi" }] },
    { id: "h0", role: "assistant", content: "yes" },
  ],
];

const patch = fc.oneof(
  fc.record({
    op: fc.constant("add"),
    path: fc.constantFrom("/p", "/q"),
    value: fc.jsonValue({ maxDepth: 1 }),
  }),
  fc.constantFrom({ op: "add", path: "/list", value: [] }, { op: "test", path: "/never" }),
);
const stateDelta = fc.record({
  type: fc.constant("STATE_DELTA"),
  delta: fc.array(patch, { minLength: 1, maxLength: 2 }),
});
const custom = fc.record({
  type: fc.constant("CUSTOM"),
  name: fc.constant("note"),
  value: fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(long)),
});

// Random runs have no deltas of the state, and neither have many of the valid ones.
const mixed = fc
  .tuple(randomRun, fc.array(fc.tuple(fc.nat(99), fc.oneof(stateDelta, custom)), { maxLength: 5 }))
  .map(([events, more]) => {
    const all: Record<string, unknown>[] = [...events];
    for (const [at, event] of more) all.splice(1 + (at % all.length), 0, event);
    return all;
  });

/** Text, reasoning, parallel calls, results, steps, states, activities, customs and subagents. */
export const resumeRun: fc.Arbitrary<ResumeRun> = fc.record({
  events: fc.oneof(validRun, mixed).map(guarded),
  history: fc.constantFrom(...histories),
  lag: fc.nat(4),
});

/** One of everything, with neighbouring deltas and a checkpoint in the middle of all that is open. */
export const richRun: ResumeRun = {
  history: histories[1]!,
  lag: 3,
  events: guarded([
    { type: "STATE_SNAPSHOT", snapshot: { done: 0, list: [] } },
    { type: "STEP_STARTED", stepName: "plan" },
    { type: "REASONING_START", messageId: "why" },
    { type: "REASONING_MESSAGE_START", messageId: "why", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "why", delta: "be" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "why", delta: "cause" },
    { type: "SUBAGENT_STARTED", subagentRunId: "sub", name: "helper" },
    { type: "TEXT_MESSAGE_START", messageId: "theirs", role: "assistant", subagentRunId: "sub" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "theirs", delta: "I", subagentRunId: "sub" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "theirs", delta: " help", subagentRunId: "sub" },
    { type: "TEXT_MESSAGE_START", messageId: "answer", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: "Let " },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: "me " },
    { type: "TOOL_CALL_START", toolCallId: "a", toolCallName: "look" },
    { type: "TOOL_CALL_START", toolCallId: "b", toolCallName: "look" },
    { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: '{"q":' },
    { type: "TOOL_CALL_ARGS", toolCallId: "b", delta: '{"q"' },
    { type: "TOOL_CALL_ARGS", toolCallId: "b", delta: ":" },
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 1 }] },
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "board",
      activityType: "PLAN",
      content: { n: 0, list: [] },
    },
    { type: "CUSTOM", name: "note", value: long },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: "see" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: "." },
    { type: "TOOL_CALL_ARGS", toolCallId: "b", delta: "2}" },
    { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: "1}" },
    { type: "TOOL_CALL_END", toolCallId: "b" },
    { type: "TOOL_CALL_RESULT", messageId: "b-result", toolCallId: "b", content: "two" },
    {
      type: "ACTIVITY_DELTA",
      messageId: "board",
      activityType: "PLAN",
      patch: [{ op: "add", path: "/list/-", value: "b" }],
    },
    { type: "TOOL_CALL_END", toolCallId: "a" },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/done", value: 2 }] },
    { type: "TOOL_CALL_RESULT", messageId: "a-result", toolCallId: "a", content: "one" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: " Done" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "answer", delta: "!" },
    { type: "TEXT_MESSAGE_END", messageId: "theirs", subagentRunId: "sub" },
    { type: "SUBAGENT_FINISHED", subagentRunId: "sub" },
    { type: "REASONING_MESSAGE_END", messageId: "why" },
    { type: "REASONING_END", messageId: "why" },
    { type: "TEXT_MESSAGE_END", messageId: "answer" },
    { type: "STEP_FINISHED", stepName: "plan" },
  ]),
};

// As the guard lets them through, so that each of them becomes one entry.
function guarded(said: readonly Record<string, unknown>[]): BaseEvent[] {
  const { guard, events } = startGuard(ids);
  for (const event of said) guard.push(structuredClone(event));
  guard.complete();
  return events;
}
