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

// As the guard lets them through, so that each of them becomes one entry.
function guarded(said: readonly Record<string, unknown>[]): BaseEvent[] {
  const { guard, events } = startGuard(ids);
  for (const event of said) guard.push(structuredClone(event));
  guard.complete();
  return events;
}
