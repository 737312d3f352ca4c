import type { Lease, RunCommand, RunLog, SessionStore } from "@holodeck/agui-core";
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
  playRun,
  readWholeLog,
  watch,
} from "./_store-bench.ts";

/** How a run ends, and how its owner is reached or missed. */
export function testRunLogOwning({ bench, define, openLog, openSecondLog }: RunLogKit): void {
  describe("closing", () => {
    for (const status of ["finished", "failed", "cancelled"] as const) {
      define(`keeps the status ${status}, and frees the thread`, async () => {
        const runs = await openLog();
        const lease = await openBenchRun(runs, runKey);
        await runs.append(lease, [mark(1)]);
        await runs.close(lease, ending(2, runKey), status);
        expect(await runs.find("ann", "r1")).toMatchObject({ status, first: 1, last: 2 });
        expect(await runs.active(threadKey)).toBeUndefined();
        expect(await runs.read(runKey, 1)).toEqual([ending(2, runKey)]);
        await openBenchRun(runs, { ...threadKey, runId: "r2" });
        expect(await runs.find("ann", "r1")).toMatchObject({ status, last: 2 });
      });
    }

    define("refuses an end that does not follow, and goes on", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1)]);
      for (const offset of [1, 3]) {
        const close = (): unknown => runs.close(lease, ending(offset, runKey), "finished");
        expect(await codeOf(close)).toBe("internal");
      }
      expect(await runs.active(threadKey)).toMatchObject({ status: "running", last: 1 });
      await runs.append(lease, [mark(2)]);
      await runs.close(lease, ending(3, runKey), "finished");
      expect(offsetsOf(await runs.read(runKey, 0))).toEqual([1, 2, 3]);
    });

    define("is seen whole or not at all", async () => {
      const runs = await openLog();
      for (const number of numbersTo(20)) {
        const one = { ...threadKey, runId: `r${number}` };
        const lease = await openBenchRun(runs, one);
        await runs.append(lease, [mark(1)]);
        const closing = runs.close(lease, ending(2, one), "finished");
        const record = (await runs.find("ann", one.runId))!;
        const active = await runs.active(threadKey);
        expect(record.last).toBe(record.status === "running" ? 1 : 2);
        if (record.status !== "running") {
          expect(active).toBeUndefined();
          expect(offsetsOf(await runs.read(one, 0))).toEqual([1, 2]);
        }
        await closing;
      }
    });
  });

  describe("commands", () => {
    const commands: readonly RunCommand[] = [
      { type: "tool-result", toolCallId: "c1", result: { empty: [], text: "ü", number: 0.1 } },
      { type: "tool-result", toolCallId: "c2", error: "No." },
      { type: "stop", reason: "replaced" },
    ];
    for (const [where, needs] of [
      ["within a process", undefined],
      ["from another process", "second"],
    ] as const) {
      define(
        `reach the owner of a run in order, ${where}`,
        async () => {
          const runs = await openLog();
          const view = needs ? await openSecondLog() : runs;
          const lease = await openBenchRun(runs, runKey);
          const heard: RunCommand[] = [];
          runs.commands(lease, (command) => heard.push(command));
          for (const command of commands) expect(await view.send(runKey, command)).toBe(true);
          expect(await view.requestStop(runKey)).toBe(true);
          await bench.until(() => heard.length >= 4);
          expect(heard.slice(0, 3)).toEqual(commands);
          expect(heard[3]).toMatchObject({ type: "stop" });
        },
        needs,
      );

      define(
        `never hit the next run of a thread, ${where}`,
        async () => {
          const runs = await openLog();
          const view = needs ? await openSecondLog() : runs;
          const lease = await openBenchRun(runs, runKey);
          await playRun(runs, lease);
          const next = { ...threadKey, runId: "r2" };
          const heard: RunCommand[] = [];
          runs.commands(await openBenchRun(runs, next), (command) => heard.push(command));
          expect(await view.requestStop(runKey)).toBe(false);
          expect(await view.send(runKey, { type: "stop" })).toBe(false);
          // What comes after has come, so what came before would have.
          expect(await view.send(next, commands[0]!)).toBe(true);
          await bench.until(() => heard.length > 0);
          expect(heard).toEqual([commands[0]]);
        },
        needs,
      );
    }

    define("wait for an owner that does not listen yet", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      expect(await runs.requestStop(runKey)).toBe(true);
      const heard: RunCommand[] = [];
      runs.commands(lease, (command) => heard.push(command));
      await bench.until(() => heard.length > 0);
      expect(heard).toMatchObject([{ type: "stop" }]);
    });

    define("end with their run, though it is started again under its name", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      expect(await runs.requestStop(runKey)).toBe(true);
      await playRun(runs, lease, 0);
      const heard: RunCommand[] = [];
      runs.commands(await openBenchRun(runs, runKey), (command) => heard.push(command));
      await runs.send(runKey, commands[1]!);
      await bench.until(() => heard.length > 0);
      expect(heard).toEqual([commands[1]]);
    });

    define("do not reach a listener that was removed", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const before: RunCommand[] = [];
      const after: RunCommand[] = [];
      const stop = runs.commands(lease, (command) => before.push(command));
      runs.commands(lease, (command) => after.push(command));
      await runs.send(runKey, commands[0]!);
      await bench.until(() => before.length > 0 && after.length > 0);
      stop();
      await runs.send(runKey, commands[1]!);
      await bench.until(() => after.length > 1);
      expect(before).toEqual([commands[0]]);
    });
  });

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
