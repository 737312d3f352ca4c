import { EventType } from "@holodeck/agui-core";
import type { Lease, Session, SessionChange, SessionStore } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { watchLease } from "./_lease-watch.ts";
import type { LeaseWatch } from "./_lease-watch.ts";
import { assistant, sessionInit, threadKey, runKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { codeOf, ending, mark, openBenchRun } from "./_store-bench.ts";

const leaseMs = 1_000;

/** Everything that a run writes into its session. */
const changes: readonly SessionChange[] = [
  { messages: [assistant("late")], state: "late", lastRunId: "r1", active: null },
  { append: [assistant("late")], metadata: { late: true } },
  { active: { runId: "r1", offset: 9, open: [{ type: EventType.STEP_STARTED, stepName: "s" }] } },
  { pending: [{ id: "late", kind: "tool", runId: "r1", value: {} }] },
  { run: { runId: "r1", request: "late" }, historyOwner: "client" },
];

/** What a run may write while it holds its lease, and not afterwards. */
export function testSessionLeases({ bench, define }: SessionKit): void {
  async function expectRefused(store: SessionStore, lease: Lease): Promise<void> {
    const before = await store.get(threadKey);
    for (const change of changes) {
      expect(await codeOf(() => store.update(threadKey, change, { lease }))).toBe("run-lost");
      const ifVersion = before!.version;
      expect(await codeOf(() => store.update(threadKey, change, { lease, ifVersion }))).toBe(
        "run-lost",
      );
    }
    expect(await store.get(threadKey)).toEqual(before);
  }

  describe("an update with a lease", () => {
    define("is stored while the run goes on", async () => {
      const store = await bench.open();
      const { version } = await store.create(threadKey, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      await store.update(threadKey, { append: [user("1")] }, { lease });
      await store.update(threadKey, { state: 1 }, { lease, ifVersion: version + 1 });
      const late = (): unknown =>
        store.update(threadKey, { state: 2 }, { lease, ifVersion: version });
      expect(await codeOf(late)).toBe("thread-busy");
      expect(await store.get(threadKey)).toMatchObject({ messages: [user("1")], state: 1 });
    });

    define("is stored once when it is one of many with the same version", async () => {
      const store = await bench.open();
      const { version: ifVersion } = await store.create(threadKey, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      const codes = await Promise.all(
        [1, 2, 3].map(async (state) =>
          codeOf(() => store.update(threadKey, { state }, { lease, ifVersion })),
        ),
      );
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(codes.filter((code) => code === "thread-busy")).toHaveLength(2);
    });

    define("is refused once the run was closed", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      await store.runs.append(lease, [mark(1)]);
      await store.update(threadKey, { append: [user("1")] }, { lease });
      await store.runs.close(lease, ending(2, runKey), "finished");
      await expectRefused(store, lease);
    });

    define("is refused while the next run has the thread", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      await store.runs.append(lease, [mark(1)]);
      await store.runs.close(lease, ending(2, runKey), "finished");
      const next = await openBenchRun(store.runs, { ...runKey, runId: "r2" });
      await store.update(threadKey, { append: [user("1")], state: "new" }, { lease: next });
      await expectRefused(store, lease);
      await store.update(threadKey, { state: "newer" }, { lease: next });
      expect(await store.get(threadKey)).toMatchObject({ state: "newer" });
    });

    define("is refused when the thread was deleted, and after it was made again", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      await store.delete(threadKey);
      const late = (): unknown => store.update(threadKey, { state: "late" }, { lease });
      expect(await codeOf(late)).toBe("run-lost");
      expect(await store.get(threadKey)).toBeUndefined();
      await store.create(threadKey, sessionInit);
      await expectRefused(store, lease);
      const next = await openBenchRun(store.runs, { ...runKey, runId: "r2" });
      await expectRefused(store, lease);
      await store.update(threadKey, { state: "new" }, { lease: next });
    });
  });

  describe("an owner that slept through its lease", () => {
    async function openLost(): Promise<{
      owner: SessionStore;
      view: SessionStore;
      lease: Lease;
      watching: LeaseWatch;
      wake: () => Promise<void>;
    }> {
      const { clock, wake } = bench.hang();
      const owner = await bench.open({ clock, leaseMs });
      await owner.create(threadKey, sessionInit);
      const lease = await openBenchRun(owner.runs, runKey);
      const watching = watchLease(lease);
      await owner.runs.append(lease, [mark(1), mark(2)]);
      await owner.update(threadKey, { append: [user("1")], state: "old" }, { lease });
      const view = await bench.openSecond({ leaseMs });
      await bench.pass(1.5 * leaseMs);
      return { owner, view, lease, watching, wake };
    }

    async function expectNothingWritten(
      { owner, view, lease }: Awaited<ReturnType<typeof openLost>>,
      before: Session | undefined,
    ): Promise<void> {
      const entries = await view.runs.read(runKey, 0);
      const record = await view.runs.find("ann", "r1");
      expect(await codeOf(() => owner.runs.append(lease, [mark(3)]))).toBe("run-lost");
      for (const change of changes) {
        expect(await codeOf(() => owner.update(threadKey, change, { lease }))).toBe("run-lost");
      }
      const close = (): unknown => owner.runs.close(lease, ending(3, runKey), "finished");
      expect(await codeOf(close)).toBe("run-lost");
      expect(await view.get(threadKey)).toEqual(before);
      expect(await view.runs.read(runKey, 0)).toEqual(entries);
      expect(await view.runs.find("ann", "r1")).toEqual(record);
    }

    define(
      "writes neither log nor session nor pending nor checkpoint over the next run",
      async () => {
        const lost = await openLost();
        const { view, watching, wake } = lost;
        const next = await openBenchRun(view.runs, { ...runKey, runId: "r2" });
        await view.runs.append(next, [mark(1)]);
        const pending = [{ id: "asked", kind: "tool", runId: "r2", value: {} }] as const;
        const before = await view.update(
          threadKey,
          {
            append: [user("2")],
            state: "new",
            pending,
            active: { runId: "r2", offset: 1, open: [] },
          },
          { lease: next },
        );
        await expectNothingWritten(lost, before);
        await wake();
        await bench.until(() => watching.losses > 0);
        await view.update(threadKey, { append: [assistant("3")] }, { lease: next });
        await view.runs.close(next, ending(2, { ...runKey, runId: "r2" }), "finished");
        await expectNothingWritten(lost, await view.get(threadKey));
      },
      "second",
    );

    define(
      "writes nothing after another process has ended its run",
      async () => {
        const lost = await openLost();
        expect(await lost.view.runs.find("ann", "r1")).toMatchObject({ status: "lost" });
        await expectNothingWritten(lost, await lost.view.get(threadKey));
      },
      "second",
    );
  });
}
