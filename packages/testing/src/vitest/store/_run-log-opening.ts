import type { Lease, RunCommand } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { runInit, runKey, threadKey } from "./_store-kit.ts";
import type { RunLogKit } from "./_store-kit.ts";
import {
  codeOf,
  numbersTo,
  ending,
  mark,
  oddKeys,
  openBenchRun,
  playRun,
  readWholeLog,
  watch,
} from "./_store-bench.ts";

/** Which run gets a thread, and who may see it. */
export function testRunLogOpening({ bench, define, openLog, openSecondLog }: RunLogKit): void {
  describe("opening", () => {
    define("gives a free thread to a run, and remembers it", async () => {
      const runs = await openLog();
      const lease = await runs.open(runKey, runInit);
      expect(lease).toMatchObject(runKey);
      expect(lease).toMatchObject({ fence: expect.any(Number), onLost: expect.any(Function) });
      const record = { ...runKey, ...runInit, format: 1, status: "running", first: 1, last: 0 };
      expect(await runs.find("ann", "r1")).toMatchObject(record);
      expect(await runs.active(threadKey)).toMatchObject(record);
    });

    define("lets one run hold a thread, and returns it", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1)]);
      const busy = await runs.open({ ...threadKey, runId: "r2" }, runInit);
      expect(busy).toMatchObject({ busy: { ...runKey, status: "running", last: 1 } });
      expect(await runs.find("ann", "r2")).toBeUndefined();
      await runs.append(lease, [mark(2)]);
    });

    define("gives a thread to one of many that ask at once", async () => {
      const runs = await openLog();
      const asked = numbersTo(20).map(async (index) =>
        runs.open({ ...threadKey, runId: `r${index}` }, runInit),
      );
      const leases = (await Promise.all(asked)).filter((one) => !("busy" in one));
      expect(leases).toHaveLength(1);
      expect(await runs.active(threadKey)).toMatchObject({ status: "running" });
    });

    define(
      "gives a thread to one of many that ask at once in two processes",
      async () => {
        const both = [await openLog(), await openSecondLog()];
        const asked = numbersTo(20).map(async (index) =>
          both[index % 2]!.open({ ...threadKey, runId: `r${index}` }, runInit),
        );
        const leases = (await Promise.all(asked)).filter((one) => !("busy" in one));
        expect(leases).toHaveLength(1);
      },
      "second",
    );

    define("does not start a run again that is running on another thread", async () => {
      const runs = await openLog();
      await openBenchRun(runs, runKey);
      const elsewhere = { ...runKey, threadId: "t2" };
      expect(await runs.open(elsewhere, runInit)).toMatchObject({ busy: runKey });
      expect(await runs.active(elsewhere)).toBeUndefined();
      expect(await runs.find("ann", "r1")).toMatchObject(runKey);
    });

    define("does not start a run again that has ended, and keeps its log", async () => {
      const runs = await openLog();
      await playRun(runs, await openBenchRun(runs, runKey));
      const log = await runs.read(runKey, 0);
      const ended = { busy: { ...runKey, status: "finished", last: 3 } };
      expect(await runs.open(runKey, runInit)).toMatchObject(ended);
      expect(await runs.open({ ...runKey, threadId: "t2" }, runInit)).toMatchObject(ended);
      const lease = await openBenchRun(runs, { ...threadKey, runId: "r2" });
      expect(await runs.open(runKey, runInit)).toMatchObject(ended);
      expect(await runs.find("ann", "r1")).toMatchObject(ended.busy);
      expect(await runs.read(runKey, 0)).toEqual(log);
      expect(await runs.active({ ...threadKey, threadId: "t2" })).toBeUndefined();
      await runs.append(lease, [mark(1)]);
    });

    define("starts a run again that ended before it began, on any thread", async () => {
      const runs = await openLog();
      await playRun(runs, await openBenchRun(runs, runKey), 0);
      const lease = await openBenchRun(runs, runKey);
      expect(await runs.find("ann", "r1")).toMatchObject({ status: "running", last: 0 });
      expect(await runs.read(runKey, 0)).toEqual([]);
      await playRun(runs, lease, 0);
      const elsewhere = { ...runKey, threadId: "t2" };
      await openBenchRun(runs, elsewhere);
      expect(await runs.find("ann", "r1")).toMatchObject(elsewhere);
      expect(await codeOf(() => runs.read(runKey, 0))).toBe("run-not-found");
      await openBenchRun(runs, { ...threadKey, runId: "r2" });
    });

    define("starts a run again whose log is gone", async () => {
      const runs = await openLog({ runLogMs: 500 });
      await playRun(runs, await openBenchRun(runs, runKey));
      expect(await runs.open(runKey, runInit)).toMatchObject({ busy: runKey });
      await bench.pass(600);
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1, "again")]);
      expect(await runs.read(runKey, 0)).toEqual([mark(1, "again")]);
    });

    define(
      "gives a run to one of many copies that ask at once in two processes",
      async () => {
        const both = [await openLog(), await openSecondLog()];
        const asked = numbersTo(20).map(async (index) => both[index % 2]!.open(runKey, runInit));
        const opened = await Promise.all(asked);
        const leases = opened.filter((one) => !("busy" in one));
        expect(leases).toHaveLength(1);
        for (const one of opened) expect("busy" in one ? one.busy : one).toMatchObject(runKey);
        await playRun(both[opened.findIndex((one) => !("busy" in one)) % 2]!, leases[0] as Lease);
        for (const runs of both) {
          expect(await runs.open(runKey, runInit)).toMatchObject({ busy: { status: "finished" } });
        }
      },
      "second",
    );

    define("has many threads at once", async () => {
      const runs = await openLog();
      await Promise.all(
        numbersTo(20).map(async (index) => {
          const one = { principal: "ann", threadId: `t${index}`, runId: `r${index}` };
          const lease = await openBenchRun(runs, one);
          for (const offset of numbersTo(10)) await runs.append(lease, [mark(offset, index)]);
          await runs.close(lease, ending(11, one), "finished");
          const values = (await readWholeLog(runs, one)).map(({ event }) => event.value);
          expect(values).toEqual([...numbersTo(10).map(() => index), undefined]);
        }),
      );
    });
  });

  describe("whose run it is", () => {
    define("keeps principals, threads and runs apart, whatever they are called", async () => {
      const runs = await openLog();
      const keys = oddKeys.map(([principal, threadId], index) => ({
        principal,
        threadId,
        // One name in all of a principal's keys once, and as odd as they are.
        runId: `${index}:${threadId}`,
      }));
      for (const one of keys) {
        const lease = await openBenchRun(runs, one);
        await runs.append(lease, [mark(1, one)]);
      }
      for (const one of keys) {
        expect(await runs.find(one.principal, one.runId)).toMatchObject(one);
        expect(await runs.active(one)).toMatchObject(one);
        expect(await runs.read(one, 0)).toEqual([mark(1, one)]);
      }
    });

    define("lets two principals use the same names", async () => {
      const runs = await openLog();
      const bobs = { ...runKey, principal: "bob" };
      await playRun(runs, await openBenchRun(runs, runKey));
      await openBenchRun(runs, bobs);
      expect(await runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
      expect(await runs.find("bob", "r1")).toMatchObject({ status: "running", last: 0 });
    });

    for (const [whom, foreign] of [
      ["another principal", { ...runKey, principal: "bob" }],
      ["another thread", { ...runKey, threadId: "t2" }],
    ] as const) {
      define(`shows nothing of a run to ${whom}`, async () => {
        const runs = await openLog();
        const lease = await openBenchRun(runs, runKey);
        await runs.append(lease, [mark(1)]);
        const received: RunCommand[] = [];
        runs.commands(lease, (command) => received.push(command));
        expect(await runs.active(foreign)).toBeUndefined();
        expect(await codeOf(() => runs.read(foreign, 0))).toBe("run-not-found");
        const follower = watch(runs, foreign);
        await bench.within(follower.ended);
        expect(follower.entries).toEqual([]);
        expect(await runs.watchers(foreign)).toBe(0);
        expect(await runs.requestStop(foreign)).toBe(false);
        expect(await runs.send(foreign, { type: "stop" })).toBe(false);
        await runs.requestStop(runKey);
        await bench.until(() => received.length > 0);
        expect(received).toHaveLength(1);
        if (foreign.principal !== runKey.principal) {
          expect(await runs.find(foreign.principal, "r1")).toBeUndefined();
        }
      });
    }
  });
}
