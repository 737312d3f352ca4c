import { describe, expect } from "vitest";
import { assistant, hour, sessionInit, threadKey, runKey, user } from "../_store-kit.ts";
import type { SessionKit } from "../_store-kit.ts";
import { ending, mark, offsetsOf, openBenchRun } from "../_store-bench.ts";

const day = 24 * hour;

/** What a store does when the date of its process is set forward or back. */
export function testClockJumps({ bench, define }: SessionKit): void {
  describe("a date that is set", () => {
    for (const [title, ms] of [
      ["forward", hour],
      ["back", -hour],
    ] as const) {
      define(`${title} changes nothing of a run, and frees its thread at its end`, async () => {
        const jump = bench.jumpingClock();
        const store = await bench.open({ clock: jump.clock, ttlMs: day, runLogMs: day });
        await store.create(threadKey, sessionInit);
        const lease = await openBenchRun(store.runs, runKey);
        await store.runs.append(lease, [mark(1)]);
        jump.by(ms);
        expect(await store.runs.active(threadKey)).toMatchObject({
          runId: "r1",
          status: "running",
        });
        await store.runs.append(lease, [mark(2)]);
        await store.update(threadKey, { append: [user("1")] }, { lease });
        await store.runs.close(lease, ending(3, runKey), "finished");
        expect(await store.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
        expect(offsetsOf(await store.runs.read(runKey, 0))).toEqual([1, 2, 3]);
        const next = { ...runKey, runId: "r2" };
        const second = await openBenchRun(store.runs, next);
        await store.update(threadKey, { append: [assistant("2")] }, { lease: second });
        await store.runs.close(second, ending(1, next), "finished");
      });

      define(`${title} moves no thread back in time, and keeps its order`, async () => {
        const jump = bench.jumpingClock();
        const store = await bench.open({ clock: jump.clock, ttlMs: day });
        const { lastActivity } = await store.create(threadKey, sessionInit);
        jump.by(ms);
        const changed = await store.update(threadKey, { append: [user("1")] });
        expect(changed.lastActivity).toBeGreaterThanOrEqual(lastActivity);
        await store.touch(threadKey);
        const touched = await store.get(threadKey);
        expect(touched!.lastActivity).toBeGreaterThanOrEqual(changed.lastActivity);
        jump.by(-ms);
        await store.touch(threadKey);
        expect((await store.get(threadKey))!.lastActivity).toBeGreaterThanOrEqual(
          touched!.lastActivity,
        );
        const { items } = await store.list({ principal: "ann", limit: 10 });
        expect(items.map(({ threadId }) => threadId)).toEqual(["t1"]);
      });

      define(
        `${title} neither empties a bucket nor locks it for longer than it takes to fill`,
        async () => {
          const jump = bench.jumpingClock();
          const store = await bench.open({ clock: jump.clock });
          const rate = { tokens: 2, perMs: 600_000 };
          expect(await store.take("bucket", 1, rate)).toBe(0);
          jump.by(ms);
          expect(await store.take("bucket", 1, rate)).toBe(0);
          for (let turn = 0; turn < 4; turn++) {
            expect(await store.take("bucket", 1, rate)).toBeLessThanOrEqual(rate.perMs);
          }
        },
      );
    }
  });
}
