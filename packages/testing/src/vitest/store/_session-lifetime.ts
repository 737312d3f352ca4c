// Longer than our usual file: the list of cases is the contract of how long a session lives, on one page.
import type { ListedSession, RunLog, SessionStore } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { watchLease } from "./_lease-watch.ts";
import { hour, sessionInit, threadKey, runKey, ttlMs, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { codeOf, numbersTo, ending, mark, openBenchRun, playRun, watch } from "./_store-bench.ts";

/** Which threads there are, for how long, and what goes with them. */
export function testSessionLifetime({ bench, define }: SessionKit): void {
  describe("a list", () => {
    const threadsOf = (items: readonly ListedSession[]): string[] =>
      items.map(({ threadId }) => threadId);

    async function listAll(store: SessionStore, limit: number): Promise<string[]> {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list({ principal: "ann", limit, ...(cursor ? { cursor } : {}) });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...threadsOf(page.items));
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    }

    define("shows a principal's sessions, the last used first", async () => {
      const store = await bench.open();
      for (const threadId of ["t1", "t2", "t3"]) {
        await store.create({ ...threadKey, threadId }, sessionInit);
        await bench.pass(10);
      }
      await store.create({ principal: "bob", threadId: "t1" }, sessionInit);
      await store.update({ ...threadKey, threadId: "t1" }, { append: [user("1")] });
      await bench.pass(10);
      expect(await listAll(store, 10)).toEqual(["t1", "t3", "t2"]);
      await store.touch({ ...threadKey, threadId: "t2" });
      expect(await listAll(store, 10)).toEqual(["t2", "t1", "t3"]);
      const { items } = await store.list({ principal: "ann", limit: 10 });
      expect(items[1]).toMatchObject({
        ...threadKey,
        agentId: "agent",
        messageCount: 1,
        version: 2,
      });
      expect(await store.list({ principal: "cy", limit: 10 })).toMatchObject({ items: [] });
    });

    define("shows one agent's only when asked", async () => {
      const store = await bench.open();
      for (const index of numbersTo(9)) {
        const agentId = index % 3 === 0 ? "one" : "two";
        await store.create({ ...threadKey, threadId: `t${index}` }, { agentId });
      }
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const query = { principal: "ann", agentId: "one", limit: 2 };
        const page = await store.list(cursor ? { ...query, cursor } : query);
        found.push(...threadsOf(page.items));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(found.toSorted()).toEqual(["t3", "t6", "t9"]);
    });

    define("shows every session once, page by page, also those of the same moment", async () => {
      const store = await bench.open();
      const threads = numbersTo(25).map((index) => `t${index}`);
      for (const threadId of threads) await store.create({ ...threadKey, threadId }, sessionInit);
      for (const limit of [1, 7, 25, 26]) {
        expect((await listAll(store, limit)).toSorted()).toEqual(threads.toSorted());
      }
      const { next } = await store.list({ principal: "ann", limit: 25 });
      expect(next).toBeUndefined();
    });

    define("refuses a cursor that is not its own", async () => {
      const store = await bench.open();
      for (const cursor of ["x", "1", ":t", "-5:1", "1e3:1", `${"9".repeat(40)}:1`]) {
        const list = async (): Promise<unknown> =>
          store.list({ principal: "ann", limit: 2, cursor });
        await expect(list(), cursor).rejects.toMatchObject({ code: "invalid-request" });
      }
    });

    define("goes on although the last session of a page is gone or was used", async () => {
      const store = await bench.open();
      for (const threadId of ["t1", "t2", "t3", "t4", "t5", "t6"]) {
        await store.create({ ...threadKey, threadId }, sessionInit);
        await bench.pass(10);
      }
      const first = await store.list({ principal: "ann", limit: 2 });
      expect(threadsOf(first.items)).toEqual(["t6", "t5"]);
      await store.delete({ ...threadKey, threadId: "t5" });
      const second = await store.list({ principal: "ann", limit: 2, cursor: first.next! });
      expect(threadsOf(second.items)).toEqual(["t4", "t3"]);
      await store.touch({ ...threadKey, threadId: "t3" });
      const third = await store.list({ principal: "ann", limit: 2, cursor: second.next! });
      expect(threadsOf(third.items)).toEqual(["t2", "t1"]);
      expect(third.next).toBeUndefined();
    });
  });

  describe("time", () => {
    define("makes an unused session absent everywhere, without a clean-up", async () => {
      const store = await bench.open({ ttlMs });
      await store.create(threadKey, { ...sessionInit, metadata: { old: true } });
      expect(await store.get(threadKey)).toBeDefined();
      await bench.pass(ttlMs);
      expect(await store.get(threadKey)).toBeUndefined();
      expect(await codeOf(() => store.update(threadKey, {}))).toBe("session-not-found");
      expect(await store.list({ principal: "ann", limit: 10 })).toMatchObject({ items: [] });
      await store.touch(threadKey);
      expect(await store.get(threadKey)).toBeUndefined();
      expect(await store.delete(threadKey)).toBe(false);
      expect(await store.create(threadKey, sessionInit)).toMatchObject({
        version: 1,
        metadata: {},
      });
    });

    define("does not count against a session that is touched or updated", async () => {
      const store = await bench.open({ ttlMs });
      const created = await store.create(threadKey, sessionInit);
      await bench.pass(0.6 * ttlMs);
      await store.touch(threadKey);
      const touched = (await store.get(threadKey))!;
      expect(touched.lastActivity).toBeGreaterThan(created.lastActivity);
      expect(touched).toMatchObject({ version: 1, createdAt: created.createdAt });
      await bench.pass(0.6 * ttlMs);
      await store.update(threadKey, { state: 1 });
      await bench.pass(0.6 * ttlMs);
      expect(await store.get(threadKey)).toMatchObject({ state: 1 });
      await bench.pass(0.6 * ttlMs);
      expect(await store.get(threadKey)).toBeUndefined();
    });

    define("does not pass for a session with a run in flight", async () => {
      const store = await bench.open({ ttlMs });
      await store.create(threadKey, sessionInit);
      await store.create({ ...threadKey, threadId: "t2" }, sessionInit);
      const lease = await openBenchRun(store.runs, runKey);
      await bench.pass(1.5 * ttlMs);
      await store.cleanupExpired();
      expect(await store.get(threadKey)).toMatchObject(threadKey);
      await bench.pass(1.5 * ttlMs);
      await store.cleanupExpired();
      expect(await store.get(threadKey)).toMatchObject(threadKey);
      const { items } = await store.list({ principal: "ann", limit: 10 });
      expect(items).toMatchObject([threadKey]);
      await store.runs.append(lease, [mark(1)]);
      // The end of a run is a use of its thread: the owner stores it before it closes the log.
      await store.update(threadKey, { append: [user("1")] });
      await store.runs.close(lease, ending(2, runKey), "finished");
      expect(await store.get(threadKey)).toMatchObject({ messageCount: 1 });
      await bench.pass(ttlMs);
      expect(await store.get(threadKey)).toBeUndefined();
    });

    define("counts the sessions that a clean-up removes", async () => {
      const store = await bench.open({ ttlMs });
      for (const threadId of ["t1", "t2", "t3"])
        await store.create({ ...threadKey, threadId }, sessionInit);
      await openBenchRun(store.runs, runKey);
      expect(await store.cleanupExpired()).toBe(0);
      await bench.pass(ttlMs);
      expect(await store.cleanupExpired()).toBe(2);
      expect(await store.cleanupExpired()).toBe(0);
    });

    define(
      "leaves what has expired out of the number of sessions, where a store has it",
      async () => {
        const store = await bench.open({ ttlMs });
        const countOf = async (real: number): Promise<number> => (await store.count?.()) ?? real;
        expect(await countOf(0)).toBe(0);
        await store.create(threadKey, sessionInit);
        await store.create({ principal: "bob", threadId: "t1" }, sessionInit);
        expect(await countOf(2)).toBe(2);
        await bench.pass(0.6 * ttlMs);
        await store.touch(threadKey);
        await bench.pass(0.6 * ttlMs);
        expect(await countOf(1)).toBe(1);
        await store.delete(threadKey);
        expect(await countOf(0)).toBe(0);
      },
    );
  });

  describe("deleting", () => {
    async function fill(store: SessionStore): Promise<RunLog> {
      await store.create(threadKey, sessionInit);
      await store.create({ ...threadKey, threadId: "t2" }, sessionInit);
      const { runs } = store;
      await playRun(runs, await openBenchRun(runs, { ...threadKey, runId: "r0" }));
      await playRun(runs, await openBenchRun(runs, { ...threadKey, threadId: "t2", runId: "r2" }));
      return runs;
    }

    define("takes the logs of a thread with it, and no other", async () => {
      const store = await bench.open();
      const runs = await fill(store);
      expect(await store.delete(threadKey)).toBe(true);
      expect(await runs.find("ann", "r0")).toBeUndefined();
      expect(await codeOf(() => runs.read({ ...threadKey, runId: "r0" }, 0))).toBe("run-not-found");
      expect(await runs.find("ann", "r2")).toMatchObject({ status: "finished" });
    });

    for (const [where, needs] of [
      ["in the same process", undefined],
      ["in another process", "second"],
    ] as const) {
      define(
        `ends a run in flight, ${where}`,
        async () => {
          const store = await bench.open();
          const other = needs ? await bench.openSecond() : store;
          const runs = await fill(store);
          const lease = await openBenchRun(runs, runKey);
          const watching = watchLease(lease);
          await runs.append(lease, [mark(1)]);
          const follower = watch(runs, runKey);
          await bench.until(() => follower.entries.length > 0);
          expect(await other.delete(threadKey)).toBe(true);
          await bench.until(() => watching.losses > 0);
          expect(await codeOf(() => runs.append(lease, [mark(2)]))).toBe("run-lost");
          const close = (): unknown => runs.close(lease, ending(2, runKey), "finished");
          expect(await codeOf(close)).toBe("run-lost");
          expect(await runs.find("ann", "r1")).toBeUndefined();
          expect(await runs.active(threadKey)).toBeUndefined();
          expect(await store.get(threadKey)).toBeUndefined();
          await bench.within(follower.ended);
          await store.create(threadKey, sessionInit);
          const again = await openBenchRun(runs, runKey);
          const watchingAgain = watchLease(again);
          expect(await runs.read(runKey, 0)).toEqual([]);
          await runs.append(again, [mark(1)]);
          expect([watching.losses, watchingAgain.losses]).toEqual([1, 0]);
        },
        needs,
      );
    }
  });

  describe("a bucket", () => {
    const rate = { tokens: 10, perMs: hour };

    define("gives as many tokens as it has, however many ask at once", async () => {
      const store = await bench.open();
      const waits = await Promise.all(numbersTo(30).map(async () => store.take("b", 1, rate)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
      for (const wait of waits.filter((one) => one !== 0)) {
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(hour / 10);
      }
      expect(await store.take("another:b", 1, rate)).toBe(0);
    });

    define(
      "is one for all processes",
      async () => {
        const stores = [await bench.open(), await bench.openSecond()];
        const waits = await Promise.all(
          numbersTo(30).map(async (index) => stores[index % 2]!.take("b", 1, rate)),
        );
        expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
      },
      "second",
    );

    define("returns how long to wait, and keeps what it did not give", async () => {
      const store = await bench.open();
      const quick = { tokens: 10, perMs: 1_000 };
      expect(await store.take("b", 8, quick)).toBe(0);
      const wait = await store.take("b", 7, quick);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(500);
      await bench.pass(wait);
      expect(await store.take("b", 7, quick)).toBe(0);
    });

    define("is never more than full", async () => {
      const store = await bench.open();
      const quick = { tokens: 2, perMs: 600 };
      expect(await store.take("b", 2, quick)).toBe(0);
      await bench.pass(1_800);
      const waits = await Promise.all(numbersTo(4).map(async () => store.take("b", 1, quick)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(2);
    });
  });

  describe("a store", () => {
    define("refuses one session too many, and takes it when another is gone", async () => {
      const store = await bench.open({ maxSessions: 3 });
      for (const threadId of ["t1", "t2", "t3"])
        await store.create({ ...threadKey, threadId }, sessionInit);
      const fourth = { ...threadKey, threadId: "t4" };
      expect(await codeOf(() => store.create(fourth, sessionInit))).toBe("capacity-exceeded");
      expect(await store.get(fourth)).toBeUndefined();
      await store.delete(threadKey);
      await store.create(fourth, sessionInit);
      expect(await codeOf(() => store.create(threadKey, sessionInit))).toBe("capacity-exceeded");
    });

    define("removes the runs of a thread that has no session", async () => {
      const store = await bench.open();
      await openBenchRun(store.runs, runKey);
      expect(await store.delete(threadKey)).toBe(false);
      expect(await store.runs.active(threadKey)).toBeUndefined();
      expect(await store.runs.find(runKey.principal, runKey.runId)).toBeUndefined();
    });

    define("takes a lower limit of sessions with each new one", async () => {
      const store = await bench.open({ maxSessions: 3 });
      const make = (threadId: string, maxSessions: number): unknown =>
        store.create({ ...threadKey, threadId }, { ...sessionInit, maxSessions });
      await make("t1", 2);
      await make("t2", 2);
      expect(await codeOf(() => make("t3", 2))).toBe("capacity-exceeded");
      expect(await store.get({ ...threadKey, threadId: "t3" })).toBeUndefined();
      await make("t3", 9);
      expect(await codeOf(() => make("t4", 9))).toBe("capacity-exceeded");
    });

    define("counts no session that has expired", async () => {
      const store = await bench.open({ maxSessions: 1, ttlMs });
      await store.create(threadKey, sessionInit);
      await bench.pass(ttlMs);
      await store.create({ ...threadKey, threadId: "t2" }, sessionInit);
    });

    define("lets go of its followers when it is closed, and may be closed twice", async () => {
      const store = await bench.open();
      const lease = await openBenchRun(store.runs, runKey);
      await store.runs.append(lease, [mark(1)]);
      const follower = watch(store.runs, runKey);
      await bench.until(() => follower.entries.length > 0);
      await store.close();
      // With an error or without: it must not wait forever.
      await bench.within(Promise.allSettled([follower.ended]));
      await store.close();
    });
  });
}
