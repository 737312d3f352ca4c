/**
 * Longer than our usual file on purpose: the list of cases is the contract of a store, on one page.
 */
import { EventType } from "@holodeck/agui-core";
import type { Json, Message, RunLog, Session, SessionStore } from "@holodeck/agui-core";
import { afterEach, describe, expect } from "vitest";
import {
  codeOf,
  count,
  createStoreBench,
  defineCases,
  ending,
  mark,
  oddKeys,
  openRun,
  playRun,
  watch,
} from "./_store-bench.ts";
import type { CreateStore, TestStoreOptions } from "./_store-bench.ts";

const key = { principal: "ann", threadId: "t1" };
const run = { ...key, runId: "r1" };
const init = { agentId: "agent" };
const ttlMs = 1_000;
const hour = 3_600_000;

const user = (id: string, content = id): Message => ({ id, role: "user", content });
const assistant = (id: string, content = id): Message => ({ id, role: "assistant", content });
const idsOf = (session: Session | undefined): string[] => session!.messages.map(({ id }) => id);

/**
 * Proves that a store keeps sessions as the contract of `SessionStore` says; `testRunLog` does the same
 * for its run log. `create` makes a store on data of its own at each call.
 *
 * @example
 * ```ts
 * testSessionStore("my store", (setup) => myStore(setup), { second: (setup) => myStore(setup) });
 * ```
 */
export function testSessionStore(
  name: string,
  create: CreateStore,
  options: TestStoreOptions = {},
): void {
  const bench = createStoreBench(create, options);
  const { define, finish } = defineCases(options);

  describe(`session store: ${name}`, { timeout: 60_000 }, () => {
    afterEach(() => bench.closeAll());

    describe("a session", () => {
      define("is given back as it was created", async () => {
        const store = await bench.open();
        const metadata = { user: "ü", list: [], object: {}, nothing: null, third: 1 / 3 };
        const created = await store.create(key, { agentId: "agent", metadata });
        expect(created).toMatchObject({
          ...key,
          agentId: "agent",
          version: 1,
          messageCount: 0,
          messages: [],
          metadata,
          pending: [],
        });
        expect(created.createdAt).toBeGreaterThan(0);
        expect(created.lastActivity).toBe(created.createdAt);
        expect(created.state).toBeUndefined();
        expect(created.lastRunId).toBeUndefined();
        expect(created.active).toBeUndefined();
        expect(await store.get(key)).toEqual(created);
      });

      define("is not there before it is created nor after it is deleted", async () => {
        const store = await bench.open();
        expect(await store.get(key)).toBeUndefined();
        expect(await store.delete(key)).toBe(false);
        await store.create(key, init);
        expect(await store.delete(key)).toBe(true);
        expect(await store.get(key)).toBeUndefined();
        expect(await store.delete(key)).toBe(false);
        expect(await codeOf(() => store.update(key, {}))).toBe("session-not-found");
        await store.touch(key);
        expect(await store.get(key)).toBeUndefined();
      });

      define("starts afresh after it was deleted", async () => {
        const store = await bench.open();
        await store.create(key, { agentId: "old", metadata: { old: true } });
        await store.update(key, { append: [user("1")], state: 1, pending: [] });
        await store.delete(key);
        await store.create(key, { agentId: "new" });
        const session = await store.get(key);
        expect(session).toMatchObject({ agentId: "new", metadata: {}, messages: [], version: 1 });
        expect(session!.state).toBeUndefined();
      });

      define("is created once", async () => {
        const store = await bench.open();
        await store.create(key, init);
        expect(await codeOf(() => store.create(key, init))).toBe("run-exists");
        const asked = count(10).map(async () =>
          codeOf(() => store.create({ ...key, threadId: "t2" }, init)),
        );
        const codes = await Promise.all(asked);
        expect(codes.filter((code) => code === undefined)).toHaveLength(1);
        expect(codes.filter((code) => code === "run-exists")).toHaveLength(9);
      });

      define("belongs to its principal and thread, whatever they are called", async () => {
        const store = await bench.open();
        for (const [principal, threadId] of oddKeys) {
          const metadata = { principal, threadId };
          await store.create({ principal, threadId }, { ...init, metadata });
        }
        for (const [principal, threadId] of oddKeys) {
          await store.update({ principal, threadId }, { state: { principal, threadId } });
        }
        for (const [principal, threadId] of oddKeys) {
          const own = { principal, threadId };
          expect(await store.get(own)).toMatchObject({ ...own, metadata: own, state: own });
        }
        const { items } = await store.list({ principal: "a", limit: 100 });
        const own = oddKeys.filter(([principal]) => principal === "a");
        expect(items.map(({ threadId }) => threadId).toSorted()).toEqual(
          own.map(([, threadId]) => threadId).toSorted(),
        );
        await store.delete({ principal: "a:b", threadId: "c" });
        expect(await store.get({ principal: "a", threadId: "b:c" })).toBeDefined();
      });

      define(
        "is the same in every process, and outlives the one that made it",
        async () => {
          const store = await bench.open();
          const other = await bench.openSecond();
          await store.create(key, { agentId: "agent", metadata: { a: 1 } });
          const written = await store.update(key, { append: [user("1")], state: { list: [] } });
          expect(await other.get(key)).toEqual(written);
          await store.close();
          expect(await other.get(key)).toEqual(written);
          expect(await other.update(key, { append: [assistant("2")] })).toMatchObject({
            version: written.version + 1,
            messages: [user("1"), assistant("2")],
          });
          expect(await other.delete(key)).toBe(true);
        },
        "second",
      );
    });

    describe("an update", () => {
      define("appends messages by id, and replaces the one it has", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await store.update(key, { append: [user("1"), assistant("2", "par")] });
        await store.update(key, { append: [assistant("2", "partial"), user("3")] });
        const session = await store.get(key);
        expect(session!.messages).toEqual([user("1"), assistant("2", "partial"), user("3")]);
      });

      define("gives back every kind of message as it was", async () => {
        const store = await bench.open();
        const messages: Message[] = [
          { id: "s", role: "system", content: "" },
          { id: "d", role: "developer", content: "ü\u2028😀" },
          user("u"),
          {
            id: "a",
            role: "assistant",
            toolCalls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { id: "t", role: "tool", toolCallId: "c", content: "[]" },
          { id: "r", role: "reasoning", content: "hm" },
          { id: "x", role: "activity", activityType: "plan", content: { steps: [], open: {} } },
        ];
        await store.create(key, init);
        const updated = await store.update(key, { append: messages });
        expect(updated.messages).toEqual(messages);
        expect((await store.get(key))!.messages).toEqual(messages);
      });

      define("replaces all messages when told to", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await store.update(key, { append: [user("1"), user("2")] });
        await store.update(key, { messages: [user("3")] });
        expect(idsOf(await store.get(key))).toEqual(["3"]);
        await store.update(key, { messages: [user("4")], append: [user("5")] });
        expect(idsOf(await store.get(key))).toEqual(["4", "5"]);
        await store.update(key, { messages: [] });
        expect((await store.get(key))!.messages).toEqual([]);
      });

      define("counts what users and assistants said, once each", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await store.update(key, {
          append: [
            { id: "s", role: "system", content: "x" },
            user("1"),
            assistant("2"),
            { id: "t", role: "tool", toolCallId: "c", content: "x" },
          ],
        });
        expect(await store.get(key)).toMatchObject({ messageCount: 2 });
        await store.update(key, { append: [assistant("2", "more"), user("3")] });
        expect(await store.get(key)).toMatchObject({ messageCount: 3 });
        const messages = [user("1"), assistant("2"), user("3"), assistant("4")];
        await store.update(key, { messages });
        expect(await store.get(key)).toMatchObject({ messageCount: 4 });
      });

      for (const state of [{ a: { b: [] }, c: {} }, [], {}, "", 0, false, null, 0.1 + 0.2, "ü😀"]) {
        define(`keeps ${JSON.stringify(state)} as state`, async () => {
          const store = await bench.open();
          await store.create(key, init);
          await store.update(key, { state: "before" });
          expect((await store.update(key, { state })).state).toEqual(state);
          await store.update(key, { metadata: { a: 1 } });
          expect((await store.get(key))!.state).toEqual(state);
        });
      }

      define("merges metadata by key", async () => {
        const store = await bench.open();
        await store.create(key, { ...init, metadata: { a: 1, b: { deep: 1 } } });
        await store.update(key, { metadata: { b: { other: [] }, c: null } });
        const odd = JSON.parse('{"__proto__":{"x":1},"constructor":1}') as Json;
        await store.update(key, { metadata: odd });
        const { metadata } = (await store.get(key))!;
        expect(JSON.parse(JSON.stringify(metadata))).toEqual(
          JSON.parse(
            '{"a":1,"b":{"other":[]},"c":null,"__proto__":{"x":1},"constructor":1}',
          ) as Json,
        );
        expect(({} as Json).x).toBeUndefined();
      });

      define("keeps what is pending, and the runs, until told otherwise", async () => {
        const store = await bench.open();
        await store.create(key, init);
        const pending = [
          { id: "c1", kind: "tool", runId: "r1", value: { name: "f", args: {} } },
          { id: "i1", kind: "interrupt", runId: "r1", value: {} },
        ] as const;
        const active = { runId: "r1", offset: 3, open: [{ type: EventType.STEP_STARTED, stepName: "s" }] };
        await store.update(key, { pending, lastRunId: "r0", active });
        await store.update(key, { metadata: { a: 1 } });
        expect(await store.get(key)).toMatchObject({
          pending,
          lastRunId: "r0",
          active,
        });
        await store.update(key, { pending: [], lastRunId: "r1", active: null });
        const session = (await store.get(key))!;
        expect(session).toMatchObject({ pending: [], lastRunId: "r1" });
        expect(session.active).toBeUndefined();
      });

      define("moves the version by one and the last activity on, never the creation", async () => {
        const store = await bench.open();
        const created = await store.create(key, init);
        await bench.pass(50);
        const updated = await store.update(key, { append: [user("1")] });
        expect(updated.version).toBe(2);
        expect(updated.createdAt).toBe(created.createdAt);
        expect(updated.lastActivity).toBeGreaterThan(created.lastActivity);
        expect((await store.update(key, {})).version).toBe(3);
        expect(await store.get(key)).toMatchObject({ version: 3, createdAt: created.createdAt });
      });

      define("is refused when the version is another than asked for", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await store.update(key, { state: "theirs" });
        const late = (): unknown => store.update(key, { state: "ours" }, { ifVersion: 1 });
        expect(await codeOf(late)).toBe("thread-busy");
        expect(await store.get(key)).toMatchObject({ state: "theirs", version: 2 });
        await store.update(key, { state: "ours" }, { ifVersion: 2 });
        expect(await store.get(key)).toMatchObject({ state: "ours", version: 3 });
      });

      define("wins once when many ask for the same version", async () => {
        const store = await bench.open();
        await store.create(key, init);
        const codes = await Promise.all(
          count(20).map(async (index) =>
            codeOf(() => store.update(key, { state: index }, { ifVersion: 1 })),
          ),
        );
        expect(codes.filter((code) => code === undefined)).toHaveLength(1);
        expect(codes.filter((code) => code === "thread-busy")).toHaveLength(19);
        expect(await store.get(key)).toMatchObject({ version: 2 });
      });

      define("takes its turn: a hundred at once keep their order", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await Promise.all(
          count(100).map(async (index) =>
            store.update(key, {
              append: [user(`m${index}`)],
              metadata: { [`k${index}`]: index },
            }),
          ),
        );
        const session = (await store.get(key))!;
        expect(idsOf(session)).toEqual(count(100).map((index) => `m${index}`));
        expect(Object.keys(session.metadata)).toHaveLength(100);
        expect(session).toMatchObject({ version: 101, messageCount: 100 });
      });

      define(
        "takes its turn: a hundred at once in two processes lose nothing",
        async () => {
          const stores = [await bench.open(), await bench.openSecond()];
          await stores[0]!.create(key, init);
          const write = async (index: number): Promise<unknown> =>
            stores[index % 2]!.update(key, { append: [user(`m${index}`)] });
          await Promise.all(count(100).map(write));
          const session = (await stores[0]!.get(key))!;
          expect(session).toMatchObject({ version: 101, messageCount: 100 });
          const numbers = idsOf(session).map((id) => Number(id.slice(1)));
          for (const parity of [0, 1]) {
            expect(numbers.filter((number) => number % 2 === parity)).toEqual(
              count(100).filter((number) => number % 2 === parity),
            );
          }
        },
        "second",
      );
    });

    describe("a long history", () => {
      const call = (id: string): Message[] => [
        {
          id: `a${id}`,
          role: "assistant",
          toolCalls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { id: `t${id}`, role: "tool", toolCallId: id, content: "x" },
      ];

      define("is cut to so many messages, the oldest first", async () => {
        const store = await bench.open({ maxMessagesPerThread: 3 });
        await store.create(key, init);
        for (const index of count(10)) await store.update(key, { append: [user(`m${index}`)] });
        const session = await store.get(key);
        expect(idsOf(session)).toEqual(["m8", "m9", "m10"]);
        expect(session).toMatchObject({ messageCount: 10 });
      });

      define("keeps system messages, and tool calls with their results", async () => {
        const store = await bench.open({ maxMessagesPerThread: 4 });
        await store.create(key, init);
        const append: Message[] = [
          { id: "s", role: "system", content: "x" },
          user("1"),
          ...call("c1"),
          { id: "d", role: "developer", content: "x" },
          ...call("c2"),
        ];
        await store.update(key, { append });
        expect(idsOf(await store.get(key))).toEqual(["s", "d", "ac2", "tc2"]);
        await store.update(key, { append: [user("2")] });
        expect(idsOf(await store.get(key))).toEqual(["s", "d", "2"]);
      });

      define("is cut to so many tokens, a quarter of the characters each", async () => {
        const store = await bench.open({ maxTokens: 25 });
        await store.create(key, init);
        const append = count(10).map((index) => user(`m${index}`, "x".repeat(40)));
        await store.update(key, { append });
        expect(idsOf(await store.get(key))).toEqual(["m9", "m10"]);
      });

      define("is kept whole by default", async () => {
        const store = await bench.open();
        await store.create(key, init);
        await store.update(key, { append: count(500).map((index) => user(`m${index}`)) });
        expect((await store.get(key))!.messages).toHaveLength(500);
      });
    });

    describe("a list", () => {
      const threadsOf = (items: readonly Session[]): string[] =>
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
          await store.create({ ...key, threadId }, init);
          await bench.pass(10);
        }
        await store.create({ principal: "bob", threadId: "t1" }, init);
        await store.update({ ...key, threadId: "t1" }, { append: [user("1")] });
        await bench.pass(10);
        expect(await listAll(store, 10)).toEqual(["t1", "t3", "t2"]);
        await store.touch({ ...key, threadId: "t2" });
        expect(await listAll(store, 10)).toEqual(["t2", "t1", "t3"]);
        const { items } = await store.list({ principal: "ann", limit: 10 });
        expect(items[1]).toMatchObject({ ...key, agentId: "agent", messageCount: 1, version: 2 });
        expect(await store.list({ principal: "cy", limit: 10 })).toMatchObject({ items: [] });
      });

      define("shows one agent's only when asked", async () => {
        const store = await bench.open();
        for (const index of count(9)) {
          const agentId = index % 3 === 0 ? "one" : "two";
          await store.create({ ...key, threadId: `t${index}` }, { agentId });
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
        const threads = count(25).map((index) => `t${index}`);
        for (const threadId of threads) await store.create({ ...key, threadId }, init);
        for (const limit of [1, 7, 25, 26]) {
          expect((await listAll(store, limit)).toSorted()).toEqual(threads.toSorted());
        }
        const { next } = await store.list({ principal: "ann", limit: 25 });
        expect(next).toBeUndefined();
      });

      define("goes on although the last session of a page is gone or was used", async () => {
        const store = await bench.open();
        for (const threadId of ["t1", "t2", "t3", "t4", "t5", "t6"]) {
          await store.create({ ...key, threadId }, init);
          await bench.pass(10);
        }
        const first = await store.list({ principal: "ann", limit: 2 });
        expect(threadsOf(first.items)).toEqual(["t6", "t5"]);
        await store.delete({ ...key, threadId: "t5" });
        const second = await store.list({ principal: "ann", limit: 2, cursor: first.next! });
        expect(threadsOf(second.items)).toEqual(["t4", "t3"]);
        await store.touch({ ...key, threadId: "t3" });
        const third = await store.list({ principal: "ann", limit: 2, cursor: second.next! });
        expect(threadsOf(third.items)).toEqual(["t2", "t1"]);
        expect(third.next).toBeUndefined();
      });
    });

    describe("time", () => {
      define("makes an unused session absent everywhere, without a clean-up", async () => {
        const store = await bench.open({ ttlMs });
        await store.create(key, { ...init, metadata: { old: true } });
        expect(await store.get(key)).toBeDefined();
        await bench.pass(ttlMs);
        expect(await store.get(key)).toBeUndefined();
        expect(await codeOf(() => store.update(key, {}))).toBe("session-not-found");
        expect(await store.list({ principal: "ann", limit: 10 })).toMatchObject({ items: [] });
        await store.touch(key);
        expect(await store.get(key)).toBeUndefined();
        expect(await store.delete(key)).toBe(false);
        expect(await store.create(key, init)).toMatchObject({ version: 1, metadata: {} });
      });

      define("does not count against a session that is touched or updated", async () => {
        const store = await bench.open({ ttlMs });
        const created = await store.create(key, init);
        await bench.pass(0.6 * ttlMs);
        await store.touch(key);
        const touched = (await store.get(key))!;
        expect(touched.lastActivity).toBeGreaterThan(created.lastActivity);
        expect(touched).toMatchObject({ version: 1, createdAt: created.createdAt });
        await bench.pass(0.6 * ttlMs);
        await store.update(key, { state: 1 });
        await bench.pass(0.6 * ttlMs);
        expect(await store.get(key)).toMatchObject({ state: 1 });
        await bench.pass(0.6 * ttlMs);
        expect(await store.get(key)).toBeUndefined();
      });

      define("does not pass for a session with a run in flight", async () => {
        const store = await bench.open({ ttlMs });
        await store.create(key, init);
        await store.create({ ...key, threadId: "t2" }, init);
        const lease = await openRun(store.runs, run);
        await bench.pass(1.5 * ttlMs);
        await store.cleanupExpired();
        expect(await store.get(key)).toMatchObject(key);
        await bench.pass(1.5 * ttlMs);
        await store.cleanupExpired();
        expect(await store.get(key)).toMatchObject(key);
        const { items } = await store.list({ principal: "ann", limit: 10 });
        expect(items).toMatchObject([key]);
        await store.runs.append(lease, [mark(1)]);
        // The end of a run is a use of its thread: the owner stores it before it closes the log.
        await store.update(key, { append: [user("1")] });
        await store.runs.close(lease, ending(2, run), "finished");
        expect(await store.get(key)).toMatchObject({ messageCount: 1 });
        await bench.pass(ttlMs);
        expect(await store.get(key)).toBeUndefined();
      });

      define("counts the sessions that a clean-up removes", async () => {
        const store = await bench.open({ ttlMs });
        for (const threadId of ["t1", "t2", "t3"]) await store.create({ ...key, threadId }, init);
        await openRun(store.runs, run);
        expect(await store.cleanupExpired()).toBe(0);
        await bench.pass(ttlMs);
        expect(await store.cleanupExpired()).toBe(2);
        expect(await store.cleanupExpired()).toBe(0);
      });
    });

    describe("deleting", () => {
      async function fill(store: SessionStore): Promise<RunLog> {
        await store.create(key, init);
        await store.create({ ...key, threadId: "t2" }, init);
        const { runs } = store;
        await playRun(runs, await openRun(runs, { ...key, runId: "r0" }));
        await playRun(runs, await openRun(runs, { ...key, threadId: "t2", runId: "r2" }));
        return runs;
      }

      define("takes the logs of a thread with it, and no other", async () => {
        const store = await bench.open();
        const runs = await fill(store);
        expect(await store.delete(key)).toBe(true);
        expect(await runs.find("ann", "r0")).toBeUndefined();
        expect(await codeOf(() => runs.read({ ...key, runId: "r0" }, 0))).toBe("run-not-found");
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
            const lease = await openRun(runs, run);
            await runs.append(lease, [mark(1)]);
            const follower = watch(runs, run);
            await bench.until(() => follower.entries.length > 0);
            expect(await other.delete(key)).toBe(true);
            await bench.until(() => lease.lost.aborted);
            expect(await codeOf(() => runs.append(lease, [mark(2)]))).toBe("run-lost");
            const close = (): unknown => runs.close(lease, ending(2, run), "finished");
            expect(await codeOf(close)).toBe("run-lost");
            expect(await runs.find("ann", "r1")).toBeUndefined();
            expect(await runs.active(key)).toBeUndefined();
            expect(await store.get(key)).toBeUndefined();
            await bench.within(follower.ended);
            await store.create(key, init);
            const again = await openRun(runs, run);
            expect(await runs.read(run, 0)).toEqual([]);
            await runs.append(again, [mark(1)]);
            expect(again.lost.aborted).toBe(false);
          },
          needs,
        );
      }
    });

    describe("a bucket", () => {
      const rate = { tokens: 10, perMs: hour };

      define("gives as many tokens as it has, however many ask at once", async () => {
        const store = await bench.open();
        const waits = await Promise.all(count(30).map(async () => store.take("b", 1, rate)));
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
            count(30).map(async (index) => stores[index % 2]!.take("b", 1, rate)),
          );
          expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
        },
        "second",
      );

      define("says how long to wait, and keeps what it did not give", async () => {
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
        const waits = await Promise.all(count(4).map(async () => store.take("b", 1, quick)));
        expect(waits.filter((wait) => wait === 0)).toHaveLength(2);
      });
    });

    describe("a store", () => {
      define("refuses one session too many, and takes it when another is gone", async () => {
        const store = await bench.open({ maxSessions: 3 });
        for (const threadId of ["t1", "t2", "t3"]) await store.create({ ...key, threadId }, init);
        const fourth = { ...key, threadId: "t4" };
        expect(await codeOf(() => store.create(fourth, init))).toBe("capacity-exceeded");
        expect(await store.get(fourth)).toBeUndefined();
        await store.delete(key);
        await store.create(fourth, init);
        expect(await codeOf(() => store.create(key, init))).toBe("capacity-exceeded");
      });

      define("counts no session that has expired", async () => {
        const store = await bench.open({ maxSessions: 1, ttlMs });
        await store.create(key, init);
        await bench.pass(ttlMs);
        await store.create({ ...key, threadId: "t2" }, init);
      });

      define("lets go of its followers when it is closed, and may be closed twice", async () => {
        const store = await bench.open();
        const lease = await openRun(store.runs, run);
        await store.runs.append(lease, [mark(1)]);
        const follower = watch(store.runs, run);
        await bench.until(() => follower.entries.length > 0);
        await store.close();
        // With an error or without: what matters is that nobody waits for ever.
        await bench.within(Promise.allSettled([follower.ended]));
        await store.close();
      });
    });

    finish();
  });
}
