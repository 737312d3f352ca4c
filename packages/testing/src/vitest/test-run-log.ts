/**
 * Longer than our usual file on purpose: the list of cases is the contract of a run log, on one page.
 */
import { EventType } from "@holodeck/agui-core";
import type { Lease, LogEntry, RunCommand, RunLog, SessionStore } from "@holodeck/agui-core";
import { afterEach, describe, expect } from "vitest";
import { exampleRun } from "../event-examples.ts";
import {
  codeOf,
  count,
  createStoreBench,
  defineCases,
  delta,
  ending,
  entry,
  mark,
  oddKeys,
  offsetsOf,
  openRun,
  piecesOf,
  playRun,
  readAll,
  watch,
} from "./_store-bench.ts";
import type { CreateStore, StoreSetup, TestStoreOptions } from "./_store-bench.ts";

const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };
const init = { agentId: "agent", protocolVersion: "1.0" };
const leaseMs = 1_000;

/**
 * Proves that the run log of a store keeps runs as the contract of `RunLog` says. `create` makes a
 * store on data of its own at each call.
 *
 * @example
 * ```ts
 * testRunLog("my store", (setup) => myStore(setup), { second: (setup) => myStore(setup) });
 * ```
 */
export function testRunLog(
  name: string,
  create: CreateStore,
  options: TestStoreOptions = {},
): void {
  const bench = createStoreBench(create, options);
  const { define, finish } = defineCases(options);
  const openLog = async (setup?: StoreSetup): Promise<RunLog> => (await bench.open(setup)).runs;
  const openSecondLog = async (): Promise<RunLog> => (await bench.openSecond()).runs;

  describe(`run log: ${name}`, { timeout: 60_000 }, () => {
    afterEach(() => bench.closeAll());

    describe("opening", () => {
      define("gives a free thread to a run, and remembers it", async () => {
        const runs = await openLog();
        const lease = await runs.open(key, init);
        expect(lease).toMatchObject(key);
        expect(lease).toMatchObject({ fence: expect.any(Number), lost: { aborted: false } });
        const record = { ...key, ...init, format: 1, status: "running", first: 1, last: 0 };
        expect(await runs.find("ann", "r1")).toMatchObject(record);
        expect(await runs.active(thread)).toMatchObject(record);
      });

      define("lets one run hold a thread, and says who", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        await runs.append(lease, [mark(1)]);
        const busy = await runs.open({ ...thread, runId: "r2" }, init);
        expect(busy).toMatchObject({ busy: { ...key, status: "running", last: 1 } });
        expect(await runs.find("ann", "r2")).toBeUndefined();
        await runs.append(lease, [mark(2)]);
      });

      define("gives a thread to one of many that ask at once", async () => {
        const runs = await openLog();
        const asked = count(20).map(async (index) =>
          runs.open({ ...thread, runId: `r${index}` }, init),
        );
        const leases = (await Promise.all(asked)).filter((one) => !("busy" in one));
        expect(leases).toHaveLength(1);
        expect(await runs.active(thread)).toMatchObject({ status: "running" });
      });

      define(
        "gives a thread to one of many that ask at once in two processes",
        async () => {
          const both = [await openLog(), await openSecondLog()];
          const asked = count(20).map(async (index) =>
            both[index % 2]!.open({ ...thread, runId: `r${index}` }, init),
          );
          const leases = (await Promise.all(asked)).filter((one) => !("busy" in one));
          expect(leases).toHaveLength(1);
        },
        "second",
      );

      define("does not start a run again that is running on another thread", async () => {
        const runs = await openLog();
        await openRun(runs, key);
        const elsewhere = { ...key, threadId: "t2" };
        expect(await runs.open(elsewhere, init)).toMatchObject({ busy: key });
        expect(await runs.active(elsewhere)).toBeUndefined();
        expect(await runs.find("ann", "r1")).toMatchObject(key);
      });

      define("starts a run again that has ended, with a log of its own", async () => {
        const runs = await openLog();
        await playRun(runs, await openRun(runs, key));
        const lease = await openRun(runs, key);
        expect(await runs.find("ann", "r1")).toMatchObject({ status: "running", last: 0 });
        expect(await runs.read(key, 0)).toEqual([]);
        await runs.append(lease, [mark(1, "again")]);
        expect(await runs.read(key, 0)).toEqual([mark(1, "again")]);
      });

      define("starts a run again on another thread", async () => {
        const runs = await openLog();
        await playRun(runs, await openRun(runs, key));
        const elsewhere = { ...key, threadId: "t2" };
        await openRun(runs, elsewhere);
        expect(await runs.find("ann", "r1")).toMatchObject(elsewhere);
        expect(await codeOf(() => runs.read(key, 0))).toBe("run-not-found");
        await openRun(runs, { ...thread, runId: "r2" });
      });

      define("has many threads at once", async () => {
        const runs = await openLog();
        await Promise.all(
          count(20).map(async (index) => {
            const one = { principal: "ann", threadId: `t${index}`, runId: `r${index}` };
            const lease = await openRun(runs, one);
            for (const offset of count(10)) await runs.append(lease, [mark(offset, index)]);
            await runs.close(lease, ending(11, one), "finished");
            const values = (await readAll(runs, one)).map(({ event }) => event.value);
            expect(values).toEqual([...count(10).map(() => index), undefined]);
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
          const lease = await openRun(runs, one);
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
        const bobs = { ...key, principal: "bob" };
        await playRun(runs, await openRun(runs, key));
        await openRun(runs, bobs);
        expect(await runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
        expect(await runs.find("bob", "r1")).toMatchObject({ status: "running", last: 0 });
      });

      for (const [whom, foreign] of [
        ["another principal", { ...key, principal: "bob" }],
        ["another thread", { ...key, threadId: "t2" }],
      ] as const) {
        define(`shows nothing of a run to ${whom}`, async () => {
          const runs = await openLog();
          const lease = await openRun(runs, key);
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
          await runs.requestStop(key);
          await bench.until(() => heard.length > 0);
          expect(heard).toHaveLength(1);
          if (foreign.principal !== key.principal) {
            expect(await runs.find(foreign.principal, "r1")).toBeUndefined();
          }
        });
      }
    });

    describe("appending", () => {
      define("gives back every kind of event as it was", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        const entries = exampleRun.map((event, index) => entry(index + 1, event));
        const terminal = entries.pop()!;
        await runs.append(lease, entries.slice(0, 3));
        await runs.append(lease, entries.slice(3));
        await runs.close(lease, terminal, "finished");
        const events = piecesOf(await readAll(runs, key)).map(({ event }) => event);
        expect(events).toEqual(exampleRun);
      });

      define("gives back odd values and the time of each entry as they were", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
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
        const back = await readAll(runs, key);
        expect(back.map(({ from, to, at, event }) => ({ from, to, at, event }))).toEqual(entries);
        expect(JSON.stringify(back.map(({ event }) => event.value))).toBe(JSON.stringify(values));
      });

      define("takes an empty batch", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
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
          const lease = await openRun(runs, key);
          await runs.append(lease, [mark(1), mark(2), mark(3)]);
          expect(await codeOf(() => runs.append(lease, batch))).toBe("internal");
          expect(await runs.find("ann", "r1")).toMatchObject({ status: "running", last: 3 });
          expect(await runs.read(key, 0)).toEqual([mark(1), mark(2), mark(3)]);
          await runs.append(lease, [mark(4)]);
          expect(offsetsOf(await runs.read(key, 0))).toEqual([1, 2, 3, 4]);
        });
      }

      define("refuses an owner whose run has ended", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        await playRun(runs, lease, 2);
        expect(await codeOf(() => runs.append(lease, [mark(4)]))).toBe("run-lost");
        expect(await codeOf(() => runs.close(lease, ending(4, key), "failed"))).toBe("run-lost");
        expect(await runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
        expect(offsetsOf(await runs.read(key, 0))).toEqual([1, 2, 3]);
      });

      define("refuses the owner of a run that was started again, and keeps nothing", async () => {
        const runs = await openLog();
        const old = await openRun(runs, key);
        await runs.append(old, [mark(1)]);
        await runs.close(old, ending(2, key), "finished");
        const lease = await openRun(runs, key);
        await runs.append(lease, [mark(1, "new"), mark(2, "new")]);
        // The first collides, the first fits, and the first collides while the rest would fit.
        for (const batch of [[mark(2)], [mark(3)], [mark(2), mark(3), mark(4)]]) {
          expect(await codeOf(() => runs.append(old, batch))).toBe("run-lost");
        }
        expect(await codeOf(() => runs.close(old, ending(3, key), "finished"))).toBe("run-lost");
        expect(await runs.read(key, 0)).toEqual([mark(1, "new"), mark(2, "new")]);
        expect(await runs.active(thread)).toMatchObject({ status: "running", last: 2 });
        await runs.close(lease, ending(3, key), "finished");
      });

      define("changes neither what it was given nor what it has given away", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        const given = [delta(1, "a"), delta(2, "b")];
        await runs.append(lease, given);
        const held = await runs.read(key, 0);
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
          const lease = await openRun(runs, key);
          for (const offset of count(20)) {
            await runs.append(lease, [delta(offset, `${offset} `)]);
            expect(await other.find("ann", "r1")).toMatchObject({ last: offset });
            expect(offsetsOf(await other.read(key, offset - 1))).toEqual([offset]);
          }
        },
        "second",
      );
    });

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
          fc.asyncProperty(steps, async (said) => {
            const one = { ...key, threadId: `t${++runNumber}`, runId: `r${runNumber}` };
            const lease = await openRun(runs, one);
            const entries: LogEntry[] = [];
            let batch: LogEntry[] = [];
            for (const [kind, words, isLast, repeats] of said) {
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
            for (const after of [0, ...count(entries.length)]) {
              const rest = piecesOf(await readAll(runs, one, after));
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
        const lease = await openRun(runs, key);
        await runs.append(
          lease,
          ["a", "", "bc", "d", "\ud83c", "\udf26"].map((text, index) => delta(index + 1, text)),
        );
        for (const after of count(6)) {
          const pieces = piecesOf(await runs.read(key, after));
          expect(pieces.map(({ event }) => event.delta)).toEqual(
            ["a", "", "bc", "d", "\ud83c", "\udf26"].slice(after),
          );
        }
      });

      define("keeps a message of half a million characters", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        const words = count(5_000).map((index) => String(index).padEnd(100, "."));
        for (let at = 0; at < words.length; at += 250) {
          const batch = words.slice(at, at + 250).map((word, index) => delta(at + index + 1, word));
          await runs.append(lease, batch);
        }
        await runs.close(lease, ending(5_001, key), "finished");
        const texts = async (after: number): Promise<unknown[]> =>
          piecesOf(await readAll(runs, key, after)).map(({ event }) => event.delta);
        expect(await texts(0)).toEqual([...words, undefined]);
        expect(await texts(3_333)).toEqual([...words.slice(3_333), undefined]);
      });
    });

    describe("reading", () => {
      define("gives no more entries than asked for, and goes on where it was", async () => {
        const runs = await openLog();
        await playRun(runs, await openRun(runs, key), 25);
        const offsets: number[] = [];
        for (;;) {
          const page = await runs.read(key, offsets.at(-1) ?? 0, 10);
          if (page.length === 0) break;
          expect(page.length).toBeLessThanOrEqual(10);
          offsets.push(...offsetsOf(page));
        }
        expect(offsets).toEqual(count(26));
        expect(offsetsOf(await runs.read(key, 7, 1))).toEqual([8]);
      });

      define("has nothing after the last offset", async () => {
        const runs = await openLog();
        await playRun(runs, await openRun(runs, key));
        expect(await runs.read(key, 3)).toEqual([]);
        expect(await runs.read(key, 99)).toEqual([]);
      });

      define("knows no run that never was", async () => {
        const runs = await openLog();
        expect(await runs.find("ann", "r1")).toBeUndefined();
        expect(await runs.active(thread)).toBeUndefined();
        expect(await codeOf(() => runs.read(key, 0))).toBe("run-not-found");
        expect(await runs.watchers(key)).toBe(0);
        expect(await runs.requestStop(key)).toBe(false);
        const follower = watch(runs, key);
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
        define(`trims the head of a log with too many ${what}, and says so`, async () => {
          const runs = await openLog(setup);
          const lease = await openRun(runs, key);
          const live = watch(runs, key);
          for (const offset of count(100)) {
            await runs.append(lease, [make(offset)]);
            await bench.until(() => live.entries.at(-1)?.to === offset);
          }
          const { first, last } = (await runs.find("ann", "r1"))!;
          expect(last).toBe(100);
          expect(first).toBeGreaterThan(50);
          expect(first).toBeLessThanOrEqual(100);
          expect(await codeOf(() => runs.read(key, 0))).toBe("replay-gone");
          expect(await codeOf(() => runs.read(key, first - 2))).toBe("replay-gone");
          expect(offsetsOf(await readAll(runs, key, first - 1))).toEqual(count(100, first));
          await runs.close(lease, ending(101, key), "finished");
          // Who has read along has not noticed.
          await bench.within(live.ended);
          expect(offsetsOf(live.entries)).toEqual(count(101));
        });
      }

      define("never skips in silence what a follower has missed", async () => {
        const runs = await openLog({ runLogEvents: 20 });
        const lease = await openRun(runs, key);
        await runs.append(lease, [mark(1)]);
        const left = new AbortController();
        const slow = runs.follow(key, 0, left.signal)[Symbol.asyncIterator]();
        const offsets = offsetsOf((await bench.within(slow.next())).value as LogEntry[]);
        for (const offset of count(100, 2)) await runs.append(lease, [mark(offset)]);
        await runs.close(lease, ending(101, key), "finished");
        const code = await codeOf(async () => {
          for (let one = await slow.next(); !one.done; one = await slow.next()) {
            offsets.push(...offsetsOf(one.value));
          }
        });
        expect(offsets).toEqual(count(offsets.length));
        if (code === undefined) expect(offsets).toHaveLength(101);
        else expect(code).toBe("replay-gone");
        expect(await codeOf(() => bench.within(watch(runs, key).ended))).toBe("replay-gone");
      });

      define("forgets a log some time after its end, and never before", async () => {
        const runs = await openLog({ runLogMs: 1_000 });
        const lease = await openRun(runs, key);
        await runs.append(lease, [mark(1)]);
        await bench.pass(1_500);
        expect(offsetsOf(await runs.read(key, 0))).toEqual([1]);
        await runs.close(lease, ending(2, key), "finished");
        expect(offsetsOf(await runs.read(key, 0))).toEqual([1, 2]);
        await bench.pass(1_000);
        expect(await runs.find("ann", "r1")).toBeUndefined();
        expect(await codeOf(() => runs.read(key, 0))).toBe("run-not-found");
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
            const lease = await openRun(runs, key);
            const follower = watch(view, key);
            for (const offset of count(10)) {
              await runs.append(lease, [delta(offset, `${offset} `)]);
              await bench.until(() => follower.entries.at(-1)?.to === offset);
            }
            await runs.close(lease, ending(11, key), "finished");
            await bench.within(follower.ended);
            expect(offsetsOf(follower.entries)).toEqual(count(11));
            expect(follower.entries.at(-1)!.event.type).toBe("RUN_FINISHED");
          },
          needs,
        );

        define(
          `begins after any offset, while the run goes on and after its end, ${where}`,
          async () => {
            const [runs, view] = await openBoth();
            const lease = await openRun(runs, key);
            const followers = [watch(view, key)];
            for (const offset of count(12)) {
              await runs.append(lease, [delta(offset, `${offset} `)]);
              followers.push(watch(view, key, offset));
            }
            await runs.close(lease, ending(13, key), "finished");
            for (const after of [0, ...count(13)]) followers.push(watch(view, key, after));
            await bench.within(Promise.all(followers.map(({ ended }) => ended)));
            const seen = followers.map(({ entries }) =>
              piecesOf(entries)
                .map(({ event }) => (event.delta as string | undefined) ?? "end")
                .join(""),
            );
            const rest = (after: number): string =>
              after > 12 ? "" : [...count(12, after + 1).map((one) => `${one} `), "end"].join("");
            const afters = [0, ...count(12), 0, ...count(13)];
            expect(seen).toEqual(afters.map(rest));
          },
          needs,
        );

        define(
          `ends when its reader leaves, and counts as a watcher until then, ${where}`,
          async () => {
            const [runs, view] = await openBoth();
            await openRun(runs, key);
            expect(await runs.watchers(key)).toBe(0);
            const [one, two] = [watch(view, key), watch(view, key)];
            await bench.until(async () => (await runs.watchers(key)) === 2);
            one.leave();
            await bench.within(one.ended);
            await bench.until(async () => (await runs.watchers(key)) === 1);
            two.leave();
            await bench.within(two.ended);
            await bench.until(async () => (await runs.watchers(key)) === 0);
            expect(await runs.find("ann", "r1")).toMatchObject({ status: "running" });
          },
          needs,
        );

        define(
          `stops counting a watcher that breaks off, and one whose run has ended, ${where}`,
          async () => {
            const [runs, view] = await openBoth();
            const lease = await openRun(runs, key);
            await runs.append(lease, [mark(1)]);
            const staying = watch(view, key);
            const breakOff = async (): Promise<void> => {
              for await (const _ of view.follow(key, 0, new AbortController().signal)) break;
            };
            await bench.within(breakOff());
            await bench.until(async () => (await runs.watchers(key)) === 1);
            await runs.close(lease, ending(2, key), "finished");
            await bench.within(staying.ended);
            await bench.until(async () => (await runs.watchers(key)) === 0);
          },
          needs,
        );
      }

      define("shows nothing to a reader who has left already", async () => {
        const runs = await openLog();
        await openRun(runs, key);
        const follower = runs.follow(key, 0, AbortSignal.abort())[Symbol.asyncIterator]();
        expect(await bench.within(follower.next())).toMatchObject({ done: true });
        expect(await runs.watchers(key)).toBe(0);
      });
    });

    describe("closing", () => {
      for (const status of ["finished", "failed", "cancelled"] as const) {
        define(`keeps that a run was ${status}, and frees its thread`, async () => {
          const runs = await openLog();
          const lease = await openRun(runs, key);
          await runs.append(lease, [mark(1)]);
          await runs.close(lease, ending(2, key), status);
          expect(await runs.find("ann", "r1")).toMatchObject({ status, first: 1, last: 2 });
          expect(await runs.active(thread)).toBeUndefined();
          expect(await runs.read(key, 1)).toEqual([ending(2, key)]);
          await openRun(runs, { ...thread, runId: "r2" });
          expect(await runs.find("ann", "r1")).toMatchObject({ status, last: 2 });
        });
      }

      define("refuses an end that does not follow, and goes on", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        await runs.append(lease, [mark(1)]);
        for (const offset of [1, 3]) {
          const close = (): unknown => runs.close(lease, ending(offset, key), "finished");
          expect(await codeOf(close)).toBe("internal");
        }
        expect(await runs.active(thread)).toMatchObject({ status: "running", last: 1 });
        await runs.append(lease, [mark(2)]);
        await runs.close(lease, ending(3, key), "finished");
        expect(offsetsOf(await runs.read(key, 0))).toEqual([1, 2, 3]);
      });

      define("is seen whole or not at all", async () => {
        const runs = await openLog();
        for (const number of count(20)) {
          const one = { ...thread, runId: `r${number}` };
          const lease = await openRun(runs, one);
          await runs.append(lease, [mark(1)]);
          const closing = runs.close(lease, ending(2, one), "finished");
          const record = (await runs.find("ann", one.runId))!;
          const active = await runs.active(thread);
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
            const lease = await openRun(runs, key);
            const heard: RunCommand[] = [];
            runs.commands(lease, (command) => heard.push(command));
            for (const command of commands) expect(await view.send(key, command)).toBe(true);
            expect(await view.requestStop(key)).toBe(true);
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
            const lease = await openRun(runs, key);
            await playRun(runs, lease);
            const next = { ...thread, runId: "r2" };
            const heard: RunCommand[] = [];
            runs.commands(await openRun(runs, next), (command) => heard.push(command));
            expect(await view.requestStop(key)).toBe(false);
            expect(await view.send(key, { type: "stop" })).toBe(false);
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
        const lease = await openRun(runs, key);
        expect(await runs.requestStop(key)).toBe(true);
        const heard: RunCommand[] = [];
        runs.commands(lease, (command) => heard.push(command));
        await bench.until(() => heard.length > 0);
        expect(heard).toMatchObject([{ type: "stop" }]);
      });

      define("end with their run, though it is started again under its name", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        expect(await runs.requestStop(key)).toBe(true);
        await playRun(runs, lease);
        const heard: RunCommand[] = [];
        runs.commands(await openRun(runs, key), (command) => heard.push(command));
        await runs.send(key, commands[1]!);
        await bench.until(() => heard.length > 0);
        expect(heard).toEqual([commands[1]]);
      });

      define("are not heard by whoever has stopped listening", async () => {
        const runs = await openLog();
        const lease = await openRun(runs, key);
        const before: RunCommand[] = [];
        const after: RunCommand[] = [];
        const stop = runs.commands(lease, (command) => before.push(command));
        runs.commands(lease, (command) => after.push(command));
        await runs.send(key, commands[0]!);
        await bench.until(() => before.length > 0 && after.length > 0);
        stop();
        await runs.send(key, commands[1]!);
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
        wake: () => Promise<void>;
      }> => {
        const { clock, wake } = bench.hang();
        const owner: SessionStore = await bench.open({ clock, leaseMs });
        const lease = await openRun(owner.runs, key);
        await owner.runs.append(lease, [mark(1), mark(2)]);
        const { runs: view } = await bench.openSecond({ leaseMs });
        return { runs: owner.runs, view, lease, wake };
      };

      const expectLost = async (view: RunLog): Promise<void> => {
        expect(await view.find("ann", "r1")).toMatchObject({ status: "lost", first: 1, last: 3 });
        expect(await view.active(thread)).toBeUndefined();
        const entries = await readAll(view, key);
        expect(entries.slice(0, 2)).toEqual([mark(1), mark(2)]);
        expect(entries.slice(2)).toMatchObject([{ from: 3, to: 3, event: lostEvent }]);
      };

      define(
        "keeps its run as long as it lives",
        async () => {
          const { runs } = await bench.open({ leaseMs });
          const { runs: view } = await bench.openSecond({ leaseMs });
          const lease = await openRun(runs, key);
          await bench.pass(3 * leaseMs);
          expect(await view.find("ann", "r1")).toMatchObject({ status: "running" });
          expect(await view.open({ ...thread, runId: "r2" }, init)).toMatchObject({ busy: key });
          await runs.append(lease, [mark(1)]);
          expect(lease.lost.aborted).toBe(false);
        },
        "second",
      );

      define(
        "that died gives its thread to the next run",
        async () => {
          const { view } = await openLost();
          const next = { ...thread, runId: "r2" };
          expect(await view.open(next, init)).toMatchObject({ busy: { runId: "r1" } });
          await bench.pass(1.5 * leaseMs);
          const lease = await openRun(view, next);
          expect(await view.find("ann", "r1")).toMatchObject({ status: "lost", last: 3 });
          expect(await view.active(thread)).toMatchObject(next);
          expect(await readAll(view, key)).toMatchObject([{}, {}, { event: lostEvent }]);
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
            ...count(10).map(async (index) => view.open({ ...thread, runId: `n${index}` }, init)),
            view.find("ann", "r1"),
            view.find("ann", "r1"),
          ]);
          const leases = opened.slice(0, 10).filter((one) => !("busy" in one!));
          expect(leases).toHaveLength(1);
          expect(await readAll(view, key)).toMatchObject([{}, {}, { event: lostEvent }]);
        },
        "second",
      );

      define(
        "that died is found out by whoever looks for its run",
        async () => {
          const { view } = await openLost();
          expect(await view.find("ann", "r1")).toMatchObject({ status: "running", last: 2 });
          await bench.pass(1.5 * leaseMs);
          await expectLost(view);
          await openRun(view, { ...thread, runId: "r2" });
        },
        "second",
      );

      define(
        "that died is found out by whoever follows its run",
        async () => {
          const { view } = await openLost();
          const follower = watch(view, key);
          await bench.until(() => follower.entries.length > 0);
          await bench.within(follower.ended);
          expect(offsetsOf(follower.entries)).toEqual([1, 2, 3]);
          expect(follower.entries.at(-1)).toMatchObject({ event: lostEvent });
          await expectLost(view);
        },
        "second",
      );

      define(
        "that comes back too late is told, and cannot write any more",
        async () => {
          const { runs, view, lease, wake } = await openLost();
          await bench.pass(1.5 * leaseMs);
          await expectLost(view);
          // The first collides with the end that was written for it, and the rest would fit.
          const batch = [mark(3), mark(4), mark(5)];
          expect(await codeOf(() => runs.append(lease, batch))).toBe("run-lost");
          expect(await codeOf(() => runs.append(lease, [mark(4)]))).toBe("run-lost");
          const close = (): unknown => runs.close(lease, ending(3, key), "finished");
          expect(await codeOf(close)).toBe("run-lost");
          await wake();
          await bench.until(() => lease.lost.aborted);
          await expectLost(view);
        },
        "second",
      );

      define(
        "that comes back too late does not touch the next run",
        async () => {
          const { runs, view, lease, wake } = await openLost();
          await bench.pass(1.5 * leaseMs);
          const again = await openRun(view, key);
          await view.append(again, [mark(1, "new"), mark(2, "new")]);
          await wake();
          await bench.until(() => lease.lost.aborted);
          expect(await codeOf(() => runs.append(lease, [mark(3)]))).toBe("run-lost");
          expect(await view.read(key, 0)).toEqual([mark(1, "new"), mark(2, "new")]);
          await view.append(again, [mark(3, "new")]);
          expect(again.lost.aborted).toBe(false);
        },
        "second",
      );
    });

    finish();
  });
}
