import type { Lease, RunLog, SessionStore } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { watchLease } from "./_lease-watch.ts";
import type { LeaseWatch } from "./_lease-watch.ts";
import { runInit, runKey, leaseMs, threadKey } from "./_store-kit.ts";
import type { RunLogKit } from "./_store-kit.ts";
import {
  codeOf,
  numbersTo,
  ending,
  mark,
  offsetsOf,
  openBenchRun,
  readWholeLog,
  watch,
} from "./_store-bench.ts";

/** How the owner of a run is missed, and what it finds when it comes back. */
export function testRunLogOwning({ bench, define }: RunLogKit): void {
  describe("an owner", () => {
    const lostEvent = { type: "RUN_ERROR", code: "run-lost", message: expect.any(String) };

    const openLost = async (): Promise<{
      runs: RunLog;
      view: RunLog;
      lease: Lease;
      watching: LeaseWatch;
      wake: () => Promise<void>;
    }> => {
      const { clock, wake } = bench.hang();
      const owner: SessionStore = await bench.open({ clock, leaseMs });
      const lease = await openBenchRun(owner.runs, runKey);
      const watching = watchLease(lease);
      await owner.runs.append(lease, [mark(1), mark(2)]);
      const { runs: view } = await bench.openSecond({ leaseMs });
      return { runs: owner.runs, view, lease, watching, wake };
    };

    const expectLost = async (view: RunLog): Promise<void> => {
      expect(await view.find("ann", "r1")).toMatchObject({ status: "lost", first: 1, last: 3 });
      expect(await view.active(threadKey)).toBeUndefined();
      const entries = await readWholeLog(view, runKey);
      expect(entries.slice(0, 2)).toEqual([mark(1), mark(2)]);
      expect(entries.slice(2)).toMatchObject([{ from: 3, to: 3, event: lostEvent }]);
    };

    define(
      "keeps its run as long as it lives",
      async () => {
        const { runs } = await bench.open({ leaseMs });
        const { runs: view } = await bench.openSecond({ leaseMs });
        const lease = await openBenchRun(runs, runKey);
        const watching = watchLease(lease);
        await bench.pass(3 * leaseMs);
        expect(await view.find("ann", "r1")).toMatchObject({ status: "running" });
        expect(await view.open({ ...threadKey, runId: "r2" }, runInit)).toMatchObject({
          busy: runKey,
        });
        await runs.append(lease, [mark(1)]);
        expect(watching.losses).toBe(0);
      },
      "second",
    );

    define(
      "that died gives its thread to the next run",
      async () => {
        const { view } = await openLost();
        const next = { ...threadKey, runId: "r2" };
        expect(await view.open(next, runInit)).toMatchObject({ busy: { runId: "r1" } });
        await bench.pass(1.5 * leaseMs);
        const lease = await openBenchRun(view, next);
        expect(await view.find("ann", "r1")).toMatchObject({ status: "lost", last: 3 });
        expect(await view.active(threadKey)).toMatchObject(next);
        expect(await readWholeLog(view, runKey)).toMatchObject([{}, {}, { event: lostEvent }]);
        await view.append(lease, [mark(1)]);
      },
      "second",
    );

    define(
      "that died gives its run to one of many that ask at once",
      async () => {
        const { view } = await openLost();
        await bench.pass(1.5 * leaseMs);
        const opened = await Promise.all([
          ...numbersTo(10).map(async (index) =>
            view.open({ ...threadKey, runId: `n${index}` }, runInit),
          ),
          view.find("ann", "r1"),
          view.find("ann", "r1"),
        ]);
        const leases = opened.slice(0, 10).filter((one) => !("busy" in one!));
        expect(leases).toHaveLength(1);
        expect(await readWholeLog(view, runKey)).toMatchObject([{}, {}, { event: lostEvent }]);
      },
      "second",
    );

    define(
      "that died is detected when its run is looked up",
      async () => {
        const { view } = await openLost();
        expect(await view.find("ann", "r1")).toMatchObject({ status: "running", last: 2 });
        await bench.pass(1.5 * leaseMs);
        await expectLost(view);
        await openBenchRun(view, { ...threadKey, runId: "r2" });
      },
      "second",
    );

    define(
      "that died is detected when its run is followed",
      async () => {
        const { view } = await openLost();
        const follower = watch(view, runKey);
        await bench.until(() => follower.entries.length > 0);
        await bench.within(follower.ended);
        expect(offsetsOf(follower.entries)).toEqual([1, 2, 3]);
        expect(follower.entries.at(-1)).toMatchObject({ event: lostEvent });
        await expectLost(view);
      },
      "second",
    );

    define(
      "that comes back too late gets an error, and cannot write",
      async () => {
        const { runs, view, lease, watching, wake } = await openLost();
        await bench.pass(1.5 * leaseMs);
        await expectLost(view);
        // The first collides with the end that was written for it, and the rest would fit.
        const batch = [mark(3), mark(4), mark(5)];
        expect(await codeOf(() => runs.append(lease, batch))).toBe("run-lost");
        expect(await codeOf(() => runs.append(lease, [mark(4)]))).toBe("run-lost");
        const close = (): unknown => runs.close(lease, ending(3, runKey), "finished");
        expect(await codeOf(close)).toBe("run-lost");
        await wake();
        await bench.until(() => watching.losses > 0);
        await expectLost(view);
        expect(watching.losses).toBe(1);
      },
      "second",
    );

    define(
      "that comes back too late calls every listener, late ones at once",
      async () => {
        const { runs, view, lease, watching, wake } = await openLost();
        const another = watchLease(lease);
        await bench.pass(1.5 * leaseMs);
        await expectLost(view);
        expect(await codeOf(() => runs.append(lease, [mark(4)]))).toBe("run-lost");
        await wake();
        await bench.until(() => watching.losses > 0 && another.losses > 0);
        expect(watchLease(lease).losses).toBe(1);
        expect([watching.losses, another.losses]).toEqual([1, 1]);
      },
      "second",
    );

    define(
      "that comes back too late does not touch the next run",
      async () => {
        const { runs, view, lease, watching, wake } = await openLost();
        await bench.pass(1.5 * leaseMs);
        const next = { ...threadKey, runId: "r2" };
        const again = await openBenchRun(view, next);
        const watchingNext = watchLease(again);
        await view.append(again, [mark(1, "new"), mark(2, "new")]);
        await wake();
        await bench.until(() => watching.losses > 0);
        expect(await codeOf(() => runs.append(lease, [mark(3)]))).toBe("run-lost");
        expect(await view.read(next, 0)).toEqual([mark(1, "new"), mark(2, "new")]);
        await view.append(again, [mark(3, "new")]);
        expect(watchingNext.losses).toBe(0);
        expect(await view.open(runKey, runInit)).toMatchObject({
          busy: { ...runKey, status: "lost" },
        });
      },
      "second",
    );
  });
}
