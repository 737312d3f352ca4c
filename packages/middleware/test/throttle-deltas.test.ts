import { compose } from "@holodeck/agui-core";
import type { BaseEvent, RunContext } from "@holodeck/agui-core";
import { fakeClock, runAgent, runContext, runInput, scriptedAgent } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import * as fc from "fast-check";
import { Subject } from "rxjs";
import { describe, expect, test } from "vitest";
import { throttleDeltas } from "../src/index.ts";
import { joinNeighbours, randomRun } from "./_random-run.ts";
import { expectVerified } from "./_verify.ts";

expect.extend(runMatchers);

/** A run whose events and time are in the hands of the test. */
function play(clock: FakeClock, ms = 100) {
  const source = new Subject<BaseEvent>();
  const seen: BaseEvent[] = [];
  const ends: unknown[] = [];
  const context: RunContext = runContext();
  const subscription = throttleDeltas({ ms, clock })(runInput(), context, () => source).subscribe({
    next: (event) => void seen.push(event),
    error: (reason) => void ends.push(reason),
    complete: () => void ends.push("complete"),
  });
  return { source, seen, ends, subscription };
}

const text = (delta: string, more: object = {}): BaseEvent =>
  ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta, ...more }) as BaseEvent;

const deltas = (events: readonly BaseEvent[]): unknown[] => events.map(({ delta }) => delta);

describe("throttleDeltas", () => {
  test("sends the first delta at once and joins those that follow too soon", () => {
    const clock = fakeClock();
    const { source, seen } = play(clock);
    source.next(text("a"));
    expect(deltas(seen)).toEqual(["a"]);
    source.next(text("b"));
    clock.tick(60);
    source.next(text("c"));
    expect(deltas(seen)).toEqual(["a"]);
    clock.tick(40);
    expect(deltas(seen)).toEqual(["a", "bc"]);
    clock.tick(100);
    source.next(text("d"));
    expect(deltas(seen)).toEqual(["a", "bc", "d"]);
    expect(clock.pending).toBe(0);
  });

  test("sends what it holds before anything else", () => {
    const clock = fakeClock();
    const { source, seen } = play(clock);
    const end = { type: "TEXT_MESSAGE_END", messageId: "m" } as BaseEvent;
    for (const event of [text("a"), text("b"), text("x", { messageId: "n" }), end])
      source.next(event);
    expect(seen).toEqual([text("a"), text("b"), text("x", { messageId: "n" }), end]);
    expect(clock.pending).toBe(0);
  });

  test.for<[string, object]>([
    ["metadata", { metadata: { token: 1 } }],
    ["a provider's event", { rawEvent: {} }],
    ["another subagent", { subagentRunId: "s" }],
  ])("does not join a delta with %s", ([, more]) => {
    const clock = fakeClock();
    const { source, seen } = play(clock);
    for (const event of [text("a"), text("b"), text("c", more)]) source.next(event);
    clock.tick(100);
    expect(seen).toEqual([text("a"), text("b"), text("c", more)]);
  });

  test("keeps the first time of what it joins", () => {
    const clock = fakeClock();
    const { source, seen } = play(clock);
    for (const [index, delta] of ["a", "b", "c"].entries()) {
      source.next(text(delta, { timestamp: index }));
    }
    clock.tick(100);
    expect(seen.at(-1)).toEqual(text("bc", { timestamp: 1 }));
  });

  test("sends what it holds before the run fails", () => {
    const { source, seen, ends } = play(fakeClock());
    source.next(text("a"));
    source.next(text("b"));
    source.error("broken");
    expect([deltas(seen), ends]).toEqual([["a", "b"], ["broken"]]);
  });

  test("leaves no timer behind when the last listener has left", () => {
    const clock = fakeClock();
    const { source, seen, subscription } = play(clock);
    source.next(text("a"));
    source.next(text("b"));
    subscription.unsubscribe();
    expect([clock.pending, source.observed, deltas(seen)]).toEqual([0, false, ["a"]]);
  });

  test("holds no more than it should of an agent that never waits", () => {
    const clock = fakeClock();
    const { source, seen } = play(clock);
    for (let index = 0; index < 40; index++) source.next(text("x".repeat(1024)));
    expect(Math.max(...seen.map(({ delta }) => String(delta).length))).toBe(16 * 1024);
    expect(deltas(seen).join("")).toHaveLength(33 * 1024);
  });

  test("works with the real clock", async () => {
    const agent = compose(scriptedAgent(["Hello ", "wor", "ld"]), throttleDeltas({ ms: 5 }));
    expect((await runAgent(agent)).text).toBe("Hello world");
  });

  test("loses nothing and moves nothing, whenever it comes", async () => {
    const pauses = fc.array(fc.nat(120), { minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(randomRun, pauses, async (events, times) => {
        const clock = fakeClock();
        const { source, seen, ends } = play(clock);
        for (const [index, event] of events.entries()) {
          source.next(event);
          clock.tick(times[index % times.length]!);
        }
        source.complete();
        expect(ends).toEqual(["complete"]);
        expect(clock.pending).toBe(0);
        expect(joinNeighbours(seen)).toEqual(joinNeighbours(events));
        expect(seen.length).toBeLessThanOrEqual(events.length);
        if (events.at(-1)!.type === "RUN_FINISHED") expect(seen).toBeValidRun();
        await expectVerified(seen);
      }),
      { numRuns: Number(process.env.MIDDLEWARE_RUNS ?? 150) },
    );
  });

  test.for<[unknown, string]>([
    [{ ms: 0 }, "throttleDeltas's ms must be a number of milliseconds above 0, not 0."],
    [{ ms: "50" }, 'not "50".'],
    [{ interval: 50 }, "interval is not an option of throttleDeltas."],
  ])("refuses %j", ([options, message]) => {
    expect(() => throttleDeltas(options as never)).toThrow(message);
  });
});
