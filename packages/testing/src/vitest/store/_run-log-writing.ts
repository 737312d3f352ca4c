import type { Lease, RunCommand } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { exampleRun } from "../../event-examples.ts";
import { runInit, runKey, threadKey } from "./_store-kit.ts";
import type { RunLogKit } from "./_store-kit.ts";
import {
  codeOf,
  numbersTo,
  delta,
  ending,
  entry,
  mark,
  oddKeys,
  offsetsOf,
  openBenchRun,
  piecesOf,
  playRun,
  readWholeLog,
  watch,
} from "./_store-bench.ts";

/** Which process may write into a log, and what it keeps of it. */
export function testRunLogWriting({ bench, define, openLog, openSecondLog }: RunLogKit): void {
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
        const heard: RunCommand[] = [];
        runs.commands(lease, (command) => heard.push(command));
        expect(await runs.active(foreign)).toBeUndefined();
        expect(await codeOf(() => runs.read(foreign, 0))).toBe("run-not-found");
        const follower = watch(runs, foreign);
        await bench.within(follower.ended);
        expect(follower.entries).toEqual([]);
        expect(await runs.watchers(foreign)).toBe(0);
        expect(await runs.requestStop(foreign)).toBe(false);
        expect(await runs.send(foreign, { type: "stop" })).toBe(false);
        await runs.requestStop(runKey);
        await bench.until(() => heard.length > 0);
        expect(heard).toHaveLength(1);
        if (foreign.principal !== runKey.principal) {
          expect(await runs.find(foreign.principal, "r1")).toBeUndefined();
        }
      });
    }
  });

  describe("appending", () => {
    define("gives back every kind of event as it was", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const entries = exampleRun.map((event, index) => entry(index + 1, event));
      const terminal = entries.pop()!;
      await runs.append(lease, entries.slice(0, 3));
      await runs.append(lease, entries.slice(3));
      await runs.close(lease, terminal, "finished");
      const events = piecesOf(await readWholeLog(runs, runKey)).map(({ event }) => event);
      expect(events).toEqual(exampleRun);
    });

    define("gives back odd values and the time of each entry as they were", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const values = [
        {},
        [],
        [[], {}],
        { empty: [], nothing: null, no: false, zero: 0, text: "" },
        0.1 + 0.2,
        Number.MAX_SAFE_INTEGER,
        -1e-7,
        "\u0000\u2028\ud83c \r\n",
        JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
        "x".repeat(100_000),
      ];
      const entries = values.map((value, index) => mark(index + 1, value));
      await runs.append(lease, entries);
      const back = await readWholeLog(runs, runKey);
      expect(back.map(({ from, to, at, event }) => ({ from, to, at, event }))).toEqual(entries);
      expect(JSON.stringify(back.map(({ event }) => event.value))).toBe(JSON.stringify(values));
    });

    define("takes an empty batch", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, []);
      await runs.append(lease, [mark(1)]);
      expect(await runs.find("ann", "r1")).toMatchObject({ first: 1, last: 1 });
    });

    for (const [what, batch] of [
      ["a gap", [mark(5)]],
      ["a repeat", [mark(3)]],
      ["a batch whose first entry is a repeat", [mark(3), mark(4), mark(5)]],
      ["a batch that starts over", [mark(1), mark(2), mark(3), mark(4)]],
      ["a batch with a hole", [mark(4), mark(6)]],
      ["a batch with a repeat", [mark(4), mark(4)]],
      ["a batch in the wrong order", [mark(5), mark(4)]],
    ] as const) {
      define(`refuses ${what}, and keeps nothing of it`, async () => {
        const runs = await openLog();
        const lease = await openBenchRun(runs, runKey);
        await runs.append(lease, [mark(1), mark(2), mark(3)]);
        expect(await codeOf(() => runs.append(lease, batch))).toBe("internal");
        expect(await runs.find("ann", "r1")).toMatchObject({ status: "running", last: 3 });
        expect(await runs.read(runKey, 0)).toEqual([mark(1), mark(2), mark(3)]);
        await runs.append(lease, [mark(4)]);
        expect(offsetsOf(await runs.read(runKey, 0))).toEqual([1, 2, 3, 4]);
      });
    }

    define("refuses an owner whose run has ended", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      await playRun(runs, lease, 2);
      expect(await codeOf(() => runs.append(lease, [mark(4)]))).toBe("run-lost");
      expect(await codeOf(() => runs.close(lease, ending(4, runKey), "failed"))).toBe("run-lost");
      expect(await runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
      expect(offsetsOf(await runs.read(runKey, 0))).toEqual([1, 2, 3]);
    });

    define("refuses the owner of a run that was started again, and keeps nothing", async () => {
      const runs = await openLog();
      const old = await openBenchRun(runs, runKey);
      await runs.close(old, ending(1, runKey), "failed");
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1, "new"), mark(2, "new")]);
      // The first collides, the first fits, and the first collides while the rest would fit.
      for (const batch of [[mark(2)], [mark(3)], [mark(2), mark(3), mark(4)]]) {
        expect(await codeOf(() => runs.append(old, batch))).toBe("run-lost");
      }
      expect(await codeOf(() => runs.close(old, ending(3, runKey), "finished"))).toBe("run-lost");
      expect(await runs.read(runKey, 0)).toEqual([mark(1, "new"), mark(2, "new")]);
      expect(await runs.active(threadKey)).toMatchObject({ status: "running", last: 2 });
      await runs.close(lease, ending(3, runKey), "finished");
    });

    define("changes neither what it was given nor what it has given away", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const given = [delta(1, "a"), delta(2, "b")];
      await runs.append(lease, given);
      const held = await runs.read(runKey, 0);
      const before = JSON.stringify([given, held]);
      await runs.append(lease, [delta(3, "c")]);
      await runs.append(lease, [delta(4, "d")]);
      expect(JSON.stringify([given, held])).toBe(before);
    });

    define(
      "has stored in the sight of all what it has acknowledged",
      async () => {
        const runs = await openLog();
        const other = await openSecondLog();
        const lease = await openBenchRun(runs, runKey);
        for (const offset of numbersTo(20)) {
          await runs.append(lease, [delta(offset, `${offset} `)]);
          expect(await other.find("ann", "r1")).toMatchObject({ last: offset });
          expect(offsetsOf(await other.read(runKey, offset - 1))).toEqual([offset]);
        }
      },
      "second",
    );
  });
}
