import type { Awaitable, LogEntry, RunKey, RunLog } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { runInit, leaseMs } from "../_store-kit.ts";
import type { RunLogKit } from "../_store-kit.ts";
import { failureOf } from "./_session-faults.ts";
import {
  ending,
  mark,
  numbersTo,
  offsetsOf,
  openBenchRun,
  playRun,
  watch,
} from "../_store-bench.ts";
import {
  atEachCall,
  createFaultGate,
  faults,
  openFaulty,
  withoutRejections,
} from "./_store-faults.ts";
import type { StoreFault, FaultGate } from "./_store-faults.ts";

/** What a log is when calls to the database fail, or are answered too late. */
export function testRunLogFaults({ bench, define }: RunLogKit): void {
  function defineFault(
    title: (fault: StoreFault) => string,
    scene: (at: { runs: RunLog; gate: FaultGate; key: RunKey; arm: () => void }) => Promise<void>,
  ): void {
    for (const fault of faults) {
      define(
        title(fault),
        async () => {
          const unhandled = await withoutRejections(bench, async () => {
            const gate = createFaultGate();
            const { runs } = await openFaulty(bench, gate, { leaseMs });
            await atEachCall(async (after) => {
              const key = { principal: "ann", threadId: `t${after}`, runId: `r${after}` };
              await scene({ runs, gate, key, arm: () => gate.arm(fault, after) });
              return gate.disarm();
            });
          });
          expect(unhandled).toEqual([]);
        },
        "faults",
      );
    }
  }

  // What waits for a call that was held back goes on when that is given up.
  const soon = <T>(work: Awaitable<T>): Promise<T> => bench.within(Promise.resolve(work));

  describe("a database", () => {
    defineFault(
      (fault) => `that ${fault} appends a batch once or not at all, and the run can be ended`,
      async ({ runs, gate, key, arm }) => {
        const lease = await openBenchRun(runs, key);
        await runs.append(lease, [mark(1)]);
        arm();
        const code = await bench.within(failureOf(() => runs.append(lease, [mark(2), mark(3)])));
        gate.disarm();
        expect([undefined, "store-unavailable"]).toContain(code);
        // An owner that has no answer ends its run where it believes that it is.
        await soon(runs.close(lease, ending(code ? 2 : 4, key), code ? "failed" : "finished"));
        await gate.release();
        const entries = await soon(runs.read(key, 0));
        expectOneEnd(entries);
        expect(code ? [2, 4] : [4]).toContain(entries.at(-1)!.to);
        const last = entries.at(-1)!.to;
        expect(await soon(runs.find(key.principal, key.runId))).toMatchObject({ last });
        await soon(openBenchRun(runs, { ...key, runId: `${key.runId}-next` }));
      },
    );

    defineFault(
      (fault) => `that ${fault} opens a run that can be found, or none`,
      async ({ runs, gate, key, arm }) => {
        arm();
        const opening = Promise.resolve(runs.open(key, runInit));
        const code = await bench.within(failureOf(() => opening));
        gate.disarm();
        expect([undefined, "store-unavailable"]).toContain(code);
        const again = code ? await soon(runs.open(key, runInit)) : await opening;
        if ("busy" in again) {
          expect(again.busy).toMatchObject(key);
          expect(await soon(runs.find(key.principal, key.runId))).toMatchObject(key);
        } else await soon(playRun(runs, again));
        await gate.release();
        // Whatever was begun and has no owner is over after a lease.
        const next = { ...key, runId: `${key.runId}-next` };
        await bench.until(async () => {
          const opened = await runs.open(next, runInit);
          if ("busy" in opened) return false;
          await playRun(runs, opened);
          return true;
        });
        expectOneEnd(await runs.read(next, 0));
      },
    );

    defineFault(
      (fault) => `that ${fault} ends a run once`,
      async ({ runs, gate, key, arm }) => {
        const lease = await openBenchRun(runs, key);
        await runs.append(lease, [mark(1)]);
        arm();
        const close = (): unknown => runs.close(lease, ending(2, key), "finished");
        const code = await bench.within(failureOf(close));
        gate.disarm();
        expect([undefined, "store-unavailable"]).toContain(code);
        await gate.release();
        await bench.until(async () => {
          const record = await runs.find(key.principal, key.runId);
          return record?.status !== "running";
        });
        const entries = await soon(runs.read(key, 0));
        expectOneEnd(entries);
        expect(offsetsOf(entries)).toEqual([1, 2]);
      },
    );

    defineFault(
      (fault) => `that ${fault} leaves no hole in what a follower receives`,
      async ({ runs, gate, key, arm }) => {
        await playRun(runs, await openBenchRun(runs, key), 5);
        arm();
        const first = watch(runs, key);
        const code = await bench.within(failureOf(() => first.ended));
        gate.disarm();
        expect([undefined, "store-unavailable"]).toContain(code);
        await gate.release();
        const after = first.entries.at(-1)?.to ?? 0;
        const rest = watch(runs, key, after);
        await bench.within(rest.ended);
        const all = [...first.entries, ...rest.entries];
        expect(offsetsOf(all)).toEqual(numbersTo(6));
        expectOneEnd(all);
      },
    );
  });
}

function expectOneEnd(entries: readonly LogEntry[]): void {
  expect(offsetsOf(entries)).toEqual(numbersTo(entries.at(-1)?.to ?? 0));
  const isEnd = ({ event }: LogEntry): boolean => /^RUN_(FINISHED|ERROR)$/.test(event.type);
  expect(entries.filter(isEnd)).toEqual([entries.at(-1)]);
}
