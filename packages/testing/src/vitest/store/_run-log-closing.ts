import type { RunCommand } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { runKey, threadKey } from "./_store-kit.ts";
import type { RunLogKit } from "./_store-kit.ts";
import {
  codeOf,
  numbersTo,
  ending,
  mark,
  offsetsOf,
  openBenchRun,
  playRun,
} from "./_store-bench.ts";

/** How a run ends, and how its owner is reached until then. */
export function testRunLogClosing({ bench, define, openLog, openSecondLog }: RunLogKit): void {
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
          const received: RunCommand[] = [];
          runs.commands(lease, (command) => received.push(command));
          for (const command of commands) expect(await view.send(runKey, command)).toBe(true);
          expect(await view.requestStop(runKey)).toBe(true);
          await bench.until(() => received.length >= 4);
          expect(received.slice(0, 3)).toEqual(commands);
          expect(received[3]).toMatchObject({ type: "stop" });
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
          const received: RunCommand[] = [];
          runs.commands(await openBenchRun(runs, next), (command) => received.push(command));
          expect(await view.requestStop(runKey)).toBe(false);
          expect(await view.send(runKey, { type: "stop" })).toBe(false);
          // What comes after has come, so what came before would have.
          expect(await view.send(next, commands[0]!)).toBe(true);
          await bench.until(() => received.length > 0);
          expect(received).toEqual([commands[0]]);
        },
        needs,
      );
    }

    define("wait for an owner that does not listen yet", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      expect(await runs.requestStop(runKey)).toBe(true);
      const received: RunCommand[] = [];
      runs.commands(lease, (command) => received.push(command));
      await bench.until(() => received.length > 0);
      expect(received).toMatchObject([{ type: "stop" }]);
    });

    define("end with their run, though it is started again under its name", async () => {
      const runs = await openLog();
      const lease = await openBenchRun(runs, runKey);
      expect(await runs.requestStop(runKey)).toBe(true);
      await playRun(runs, lease, 0);
      const received: RunCommand[] = [];
      runs.commands(await openBenchRun(runs, runKey), (command) => received.push(command));
      await runs.send(runKey, commands[1]!);
      await bench.until(() => received.length > 0);
      expect(received).toEqual([commands[1]]);
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
}
