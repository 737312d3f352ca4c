import { describe, expect } from "vitest";
import { exampleRun } from "../../event-examples.ts";
import { runKey, threadKey } from "./_store-kit.ts";
import type { RunLogKit } from "./_store-kit.ts";
import {
  codeOf,
  numbersTo,
  delta,
  ending,
  entry,
  mark,
  offsetsOf,
  openBenchRun,
  piecesOf,
  playRun,
  readWholeLog,
} from "./_store-bench.ts";

/** What an append keeps, and whose it refuses. */
export function testRunLogAppending({ define, openLog, openSecondLog }: RunLogKit): void {
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
