// Longer than our usual file: the list of cases is the contract of reading a log, on one page.
import { EventType } from "@holodeck/agui-core";
import type { LogEntry, RunLog } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
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
  watch,
} from "./_store-bench.ts";
import type { StoreSetup } from "./_store-bench.ts";

/** What readers and followers get of a log. */
export function testRunLogReading({ bench, define, openLog, openSecondLog }: RunLogKit): void {
  describe("merging", () => {
    define("keeps every offset exact, whatever was merged", async () => {
      // Loaded here: the other suites of this entry do without it.
      const { default: fc } = await import("fast-check");
      const runs = await openLog();
      const part = fc.constantFrom(
        { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m1" },
        { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m2" },
        { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m1", subagentRunId: "s" },
        { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m1", timestamp: 1 },
        { type: EventType.REASONING_MESSAGE_CONTENT, messageId: "m1" },
        { type: EventType.TOOL_CALL_ARGS, toolCallId: "m1" },
        { type: EventType.CUSTOM, name: "m1" },
      );
      // Also empty, and halves of a character: what a model sends is cut anywhere.
      const text = fc.oneof(
        fc.constantFrom("", "a", "bc", "\ud83c", "\udf26", "\\u0000", '"', "é"),
        fc.string({ unit: "binary", maxLength: 8 }),
      );
      const steps = fc.array(fc.tuple(part, text, fc.boolean(), fc.nat({ max: 3 })), {
        minLength: 1,
        maxLength: 15,
      });
      let runNumber = 0;
      await fc.assert(
        fc.asyncProperty(steps, async (script) => {
          const one = { ...runKey, threadId: `t${++runNumber}`, runId: `r${runNumber}` };
          const lease = await openBenchRun(runs, one);
          const entries: LogEntry[] = [];
          let batch: LogEntry[] = [];
          for (const [kind, words, isLast, repeats] of script) {
            for (let again = 0; again <= repeats; again++) {
              const next = entry(entries.length + 1, { ...kind, delta: words });
              entries.push(next);
              batch.push(next);
            }
            if (isLast) await runs.append(lease, batch.splice(0));
          }
          if (batch.length > 0) await runs.append(lease, batch);
          entries.push(ending(entries.length + 1, one));
          await runs.close(lease, entries.at(-1)!, "finished");
          const all = entries.map(({ from, event }) => ({ offset: from, event }));
          for (const after of [0, ...numbersTo(entries.length)]) {
            const rest = piecesOf(await readWholeLog(runs, one, after));
            // Comparing text is a hundred times quicker, and mostly enough.
            if (JSON.stringify(rest) !== JSON.stringify(all.slice(after))) {
              expect(rest).toEqual(all.slice(after));
            }
          }
        }),
        { numRuns: 30 },
      );
    });

    define("cuts again what it has cut", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      await runs.append(
        lease,
        ["a", "", "bc", "d", "\ud83c", "\udf26"].map((text, index) => delta(index + 1, text)),
      );
      for (const after of numbersTo(6)) {
        const pieces = piecesOf(await runs.read(runKey, after));
        expect(pieces.map(({ event }) => event.delta)).toEqual(
          ["a", "", "bc", "d", "\ud83c", "\udf26"].slice(after),
        );
      }
    });

    define("takes deltas that were merged before, and leaves the caller's own alone", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const words = ["a", "bc", "", "d", "\ud83c", "\udf26", "e"];
      const line = (first: number, deltas: readonly string[]): LogEntry => {
        let end = 0;
        const cuts = deltas.map((one) => (end += one.length));
        const { at, event } = delta(first, deltas.join(""));
        return {
          from: first,
          to: first + deltas.length - 1,
          at,
          event: Object.freeze(event),
          cuts,
        };
      };
      const batch = [line(1, words.slice(0, 3)), line(4, words.slice(3, 6))];
      await runs.append(lease, batch);
      await runs.append(lease, [delta(7, words[6]!)]);
      expect(batch).toEqual([line(1, words.slice(0, 3)), line(4, words.slice(3, 6))]);
      for (const after of [0, ...numbersTo(6)]) {
        const pieces = piecesOf(await readWholeLog(runs, runKey, after));
        expect(pieces.map(({ event }) => event.delta)).toEqual(words.slice(after));
      }
    });

    define("keeps a message of half a million characters", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      const words = numbersTo(5_000).map((index) => String(index).padEnd(100, "."));
      for (let at = 0; at < words.length; at += 250) {
        const batch = words.slice(at, at + 250).map((word, index) => delta(at + index + 1, word));
        await runs.append(lease, batch);
      }
      await runs.close(lease, ending(5_001, runKey), "finished");
      const texts = async (after: number): Promise<unknown[]> =>
        piecesOf(await readWholeLog(runs, runKey, after)).map(({ event }) => event.delta);
      expect(await texts(0)).toEqual([...words, undefined]);
      expect(await texts(3_333)).toEqual([...words.slice(3_333), undefined]);
    });
  });

  describe("reading", () => {
    define("gives no more entries than asked for, and goes on where it was", async () => {
      const runs = await openLog();
      await playRun(runs, await openBenchRun(runs, runKey), 25);
      const offsets: number[] = [];
      for (;;) {
        const page = await runs.read(runKey, offsets.at(-1) ?? 0, 10);
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(10);
        offsets.push(...offsetsOf(page));
      }
      expect(offsets).toEqual(numbersTo(26));
      expect(offsetsOf(await runs.read(runKey, 7, 1))).toEqual([8]);
    });

    define("has nothing after the last offset", async () => {
      const runs = await openLog();
      await playRun(runs, await openBenchRun(runs, runKey));
      expect(await runs.read(runKey, 3)).toEqual([]);
      expect(await runs.read(runKey, 99)).toEqual([]);
    });

    define("knows no run that never was", async () => {
      const runs = await openLog();
      expect(await runs.find("ann", "r1")).toBeUndefined();
      expect(await runs.active(threadKey)).toBeUndefined();
      expect(await codeOf(() => runs.read(runKey, 0))).toBe("run-not-found");
      expect(await runs.watchers(runKey)).toBe(0);
      expect(await runs.requestStop(runKey)).toBe(false);
      const follower = watch(runs, runKey);
      await bench.within(follower.ended);
      expect(follower.entries).toEqual([]);
    });
  });

  describe("bounds", () => {
    const bounds: readonly [string, StoreSetup, (offset: number) => LogEntry][] = [
      ["events", { runLogEvents: 20 }, (offset) => mark(offset)],
      ["bytes", { runLogBytes: 40_000 }, (offset) => mark(offset, "x".repeat(2_000))],
      [
        "bytes of one endless message",
        { runLogBytes: 400_000 },
        (offset) => delta(offset, "x".repeat(10_000)),
      ],
    ];
    for (const [what, setup, make] of bounds) {
      define(`trims the head of a log with too many ${what}, and reports it`, async () => {
        const runs = await openLog(setup);
        const lease = await openBenchRun(runs, runKey);
        const live = watch(runs, runKey);
        for (const offset of numbersTo(100)) {
          await runs.append(lease, [make(offset)]);
          await bench.until(() => live.entries.at(-1)?.to === offset);
        }
        const { first, last } = (await runs.find("ann", "r1"))!;
        expect(last).toBe(100);
        expect(first).toBeGreaterThan(50);
        expect(first).toBeLessThanOrEqual(100);
        expect(await codeOf(() => runs.read(runKey, 0))).toBe("replay-gone");
        expect(await codeOf(() => runs.read(runKey, first - 2))).toBe("replay-gone");
        expect(offsetsOf(await readWholeLog(runs, runKey, first - 1))).toEqual(
          numbersTo(100, first),
        );
        await runs.close(lease, ending(101, runKey), "finished");
        // A live reader has not noticed.
        await bench.within(live.ended);
        expect(offsetsOf(live.entries)).toEqual(numbersTo(101));
      });
    }

    define("never skips in silence what a follower has missed", async () => {
      const runs = await openLog({ runLogEvents: 20 });
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1)]);
      const left = new AbortController();
      const slow = runs.follow(runKey, 0, left.signal)[Symbol.asyncIterator]();
      const offsets = offsetsOf((await bench.within(slow.next())).value as LogEntry[]);
      for (const offset of numbersTo(100, 2)) await runs.append(lease, [mark(offset)]);
      await runs.close(lease, ending(101, runKey), "finished");
      const code = await codeOf(async () => {
        for (let one = await slow.next(); !one.done; one = await slow.next()) {
          offsets.push(...offsetsOf(one.value));
        }
      });
      expect(offsets).toEqual(numbersTo(offsets.length));
      if (code === undefined) expect(offsets).toHaveLength(101);
      else expect(code).toBe("replay-gone");
      expect(await codeOf(() => bench.within(watch(runs, runKey).ended))).toBe("replay-gone");
    });

    define("forgets a log some time after its end, and never before", async () => {
      const runs = await openLog({ runLogMs: 1_000 });
      const lease = await openBenchRun(runs, runKey);
      await runs.append(lease, [mark(1)]);
      await bench.pass(1_500);
      expect(offsetsOf(await runs.read(runKey, 0))).toEqual([1]);
      await runs.close(lease, ending(2, runKey), "finished");
      expect(offsetsOf(await runs.read(runKey, 0))).toEqual([1, 2]);
      await bench.pass(1_000);
      expect(await runs.find("ann", "r1")).toBeUndefined();
      expect(await codeOf(() => runs.read(runKey, 0))).toBe("run-not-found");
    });
  });

  describe("following", () => {
    const views = [
      ["in the process that owns it", undefined],
      ["in another process", "second"],
    ] as const;
    for (const [where, needs] of views) {
      const openBoth = async (): Promise<[RunLog, RunLog]> => {
        const runs = await openLog();
        return [runs, needs ? await openSecondLog() : runs];
      };

      define(
        `shows each batch as it comes, and ends with the run, ${where}`,
        async () => {
          const [runs, view] = await openBoth();
          const lease = await openBenchRun(runs, runKey);
          const follower = watch(view, runKey);
          for (const offset of numbersTo(10)) {
            await runs.append(lease, [delta(offset, `${offset} `)]);
            await bench.until(() => follower.entries.at(-1)?.to === offset);
          }
          await runs.close(lease, ending(11, runKey), "finished");
          await bench.within(follower.ended);
          expect(offsetsOf(follower.entries)).toEqual(numbersTo(11));
          expect(follower.entries.at(-1)!.event.type).toBe("RUN_FINISHED");
        },
        needs,
      );

      define(
        `begins after any offset, while the run goes on and after its end, ${where}`,
        async () => {
          const [runs, view] = await openBoth();
          const lease = await openBenchRun(runs, runKey);
          const followers = [watch(view, runKey)];
          for (const offset of numbersTo(12)) {
            await runs.append(lease, [delta(offset, `${offset} `)]);
            followers.push(watch(view, runKey, offset));
          }
          await runs.close(lease, ending(13, runKey), "finished");
          for (const after of [0, ...numbersTo(13)]) followers.push(watch(view, runKey, after));
          await bench.within(Promise.all(followers.map(({ ended }) => ended)));
          const seen = followers.map(({ entries }) =>
            piecesOf(entries)
              .map(({ event }) => (event.delta as string | undefined) ?? "end")
              .join(""),
          );
          const rest = (after: number): string =>
            after > 12 ? "" : [...numbersTo(12, after + 1).map((one) => `${one} `), "end"].join("");
          const afters = [0, ...numbersTo(12), 0, ...numbersTo(13)];
          expect(seen).toEqual(afters.map(rest));
        },
        needs,
      );

      define(
        `ends when its reader leaves, and counts as a watcher until then, ${where}`,
        async () => {
          const [runs, view] = await openBoth();
          await openBenchRun(runs, runKey);
          expect(await runs.watchers(runKey)).toBe(0);
          const [one, two] = [watch(view, runKey), watch(view, runKey)];
          await bench.until(async () => (await runs.watchers(runKey)) === 2);
          one.leave();
          await bench.within(one.ended);
          await bench.until(async () => (await runs.watchers(runKey)) === 1);
          two.leave();
          await bench.within(two.ended);
          await bench.until(async () => (await runs.watchers(runKey)) === 0);
          expect(await runs.find("ann", "r1")).toMatchObject({ status: "running" });
        },
        needs,
      );

      define(
        `stops counting a watcher that breaks off, and one whose run has ended, ${where}`,
        async () => {
          const [runs, view] = await openBoth();
          const lease = await openBenchRun(runs, runKey);
          await runs.append(lease, [mark(1)]);
          const staying = watch(view, runKey);
          const breakOff = async (): Promise<void> => {
            for await (const _ of view.follow(runKey, 0, new AbortController().signal)) break;
          };
          await bench.within(breakOff());
          await bench.until(async () => (await runs.watchers(runKey)) === 1);
          await runs.close(lease, ending(2, runKey), "finished");
          await bench.within(staying.ended);
          await bench.until(async () => (await runs.watchers(runKey)) === 0);
        },
        needs,
      );
    }

    define("shows nothing to a reader who has left already", async () => {
      const runs = await openLog();
      await openBenchRun(runs, runKey);
      const follower = runs.follow(runKey, 0, AbortSignal.abort())[Symbol.asyncIterator]();
      expect(await bench.within(follower.next())).toMatchObject({ done: true });
      expect(await runs.watchers(runKey)).toBe(0);
    });
  });
}
