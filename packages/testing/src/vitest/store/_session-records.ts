import { EventType } from "@holodeck/agui-core";
import type { Json, Message } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { assistant, idsOf, sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { codeOf, numbersTo, oddKeys } from "./_store-bench.ts";

/** What a store keeps of a thread, and how it changes. */
export function testSessionRecords({ bench, define }: SessionKit): void {
  describe("a session", () => {
    define("is given back as it was created", async () => {
      const store = await bench.open();
      const metadata = { user: "ü", list: [], object: {}, nothing: null, third: 1 / 3 };
      const created = await store.create(threadKey, { agentId: "agent", metadata });
      expect(created).toMatchObject({
        ...threadKey,
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
      expect(await store.get(threadKey)).toEqual(created);
    });

    define("is not there before it is created nor after it is deleted", async () => {
      const store = await bench.open();
      expect(await store.get(threadKey)).toBeUndefined();
      expect(await store.delete(threadKey)).toBe(false);
      await store.create(threadKey, sessionInit);
      expect(await store.delete(threadKey)).toBe(true);
      expect(await store.get(threadKey)).toBeUndefined();
      expect(await store.delete(threadKey)).toBe(false);
      expect(await codeOf(() => store.update(threadKey, {}))).toBe("session-not-found");
      await store.touch(threadKey);
      expect(await store.get(threadKey)).toBeUndefined();
    });

    define("starts afresh after it was deleted", async () => {
      const store = await bench.open();
      await store.create(threadKey, { agentId: "old", metadata: { old: true } });
      await store.update(threadKey, { append: [user("1")], state: 1, pending: [] });
      await store.delete(threadKey);
      await store.create(threadKey, { agentId: "new" });
      const session = await store.get(threadKey);
      expect(session).toMatchObject({ agentId: "new", metadata: {}, messages: [], version: 1 });
      expect(session!.state).toBeUndefined();
    });

    define("is created once", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      expect(await codeOf(() => store.create(threadKey, sessionInit))).toBe("run-exists");
      const asked = numbersTo(10).map(async () =>
        codeOf(() => store.create({ ...threadKey, threadId: "t2" }, sessionInit)),
      );
      const codes = await Promise.all(asked);
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(codes.filter((code) => code === "run-exists")).toHaveLength(9);
    });

    define("belongs to its principal and thread, whatever they are called", async () => {
      const store = await bench.open();
      for (const [principal, threadId] of oddKeys) {
        const metadata = { principal, threadId };
        await store.create({ principal, threadId }, { ...sessionInit, metadata });
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
        await store.create(threadKey, { agentId: "agent", metadata: { a: 1 } });
        const written = await store.update(threadKey, { append: [user("1")], state: { list: [] } });
        expect(await other.get(threadKey)).toEqual(written);
        await store.close();
        expect(await other.get(threadKey)).toEqual(written);
        expect(await other.update(threadKey, { append: [assistant("2")] })).toMatchObject({
          version: written.version + 1,
          messages: [user("1"), assistant("2")],
        });
        expect(await other.delete(threadKey)).toBe(true);
      },
      "second",
    );
  });

  describe("an update", () => {
    define("appends messages by id, and replaces the one it has", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { append: [user("1"), assistant("2", "par")] });
      await store.update(threadKey, { append: [assistant("2", "partial"), user("3")] });
      const session = await store.get(threadKey);
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
      await store.create(threadKey, sessionInit);
      const updated = await store.update(threadKey, { append: messages });
      expect(updated.messages).toEqual(messages);
      expect((await store.get(threadKey))!.messages).toEqual(messages);
    });

    define("replaces all messages on demand", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { append: [user("1"), user("2")] });
      await store.update(threadKey, { messages: [user("3")] });
      expect(idsOf(await store.get(threadKey))).toEqual(["3"]);
      await store.update(threadKey, { messages: [user("4")], append: [user("5")] });
      expect(idsOf(await store.get(threadKey))).toEqual(["4", "5"]);
      await store.update(threadKey, { messages: [] });
      expect((await store.get(threadKey))!.messages).toEqual([]);
    });

    define("counts messages of users and assistants, once each", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, {
        append: [
          { id: "s", role: "system", content: "x" },
          user("1"),
          assistant("2"),
          { id: "t", role: "tool", toolCallId: "c", content: "x" },
        ],
      });
      expect(await store.get(threadKey)).toMatchObject({ messageCount: 2 });
      await store.update(threadKey, { append: [assistant("2", "more"), user("3")] });
      expect(await store.get(threadKey)).toMatchObject({ messageCount: 3 });
      const messages = [user("1"), assistant("2"), user("3"), assistant("4")];
      await store.update(threadKey, { messages });
      expect(await store.get(threadKey)).toMatchObject({ messageCount: 4 });
    });

    for (const state of [{ a: { b: [] }, c: {} }, [], {}, "", 0, false, null, 0.1 + 0.2, "ü😀"]) {
      define(`keeps ${JSON.stringify(state)} as state`, async () => {
        const store = await bench.open();
        await store.create(threadKey, sessionInit);
        await store.update(threadKey, { state: "before" });
        expect((await store.update(threadKey, { state })).state).toEqual(state);
        await store.update(threadKey, { metadata: { a: 1 } });
        expect((await store.get(threadKey))!.state).toEqual(state);
      });
    }

    define("merges metadata by key", async () => {
      const store = await bench.open();
      await store.create(threadKey, { ...sessionInit, metadata: { a: 1, b: { deep: 1 } } });
      await store.update(threadKey, { metadata: { b: { other: [] }, c: null } });
      const odd = JSON.parse('{"__proto__":{"x":1},"constructor":1}') as Json;
      await store.update(threadKey, { metadata: odd });
      const { metadata } = (await store.get(threadKey))!;
      expect(JSON.parse(JSON.stringify(metadata))).toEqual(
        JSON.parse('{"a":1,"b":{"other":[]},"c":null,"__proto__":{"x":1},"constructor":1}') as Json,
      );
      expect(({} as Json).x).toBeUndefined();
    });

    define("keeps what is pending, and the runs, until they are changed", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const pending = [
        { id: "c1", kind: "tool", runId: "r1", value: { name: "f", args: {} } },
        { id: "i1", kind: "interrupt", runId: "r1", value: {} },
      ] as const;
      const open = [{ type: EventType.STEP_STARTED, stepName: "s" }];
      const active = { runId: "r1", offset: 3, open };
      await store.update(threadKey, { pending, lastRunId: "r0", active });
      await store.update(threadKey, { metadata: { a: 1 } });
      expect(await store.get(threadKey)).toMatchObject({
        pending,
        lastRunId: "r0",
        active,
      });
      await store.update(threadKey, { pending: [], lastRunId: "r1", active: null });
      const session = (await store.get(threadKey))!;
      expect(session).toMatchObject({ pending: [], lastRunId: "r1" });
      expect(session.active).toBeUndefined();
    });

    define("moves the version by one and the last activity on, never the creation", async () => {
      const store = await bench.open();
      const created = await store.create(threadKey, sessionInit);
      await bench.pass(50);
      const updated = await store.update(threadKey, { append: [user("1")] });
      expect(updated.version).toBe(2);
      expect(updated.createdAt).toBe(created.createdAt);
      expect(updated.lastActivity).toBeGreaterThan(created.lastActivity);
      expect((await store.update(threadKey, {})).version).toBe(3);
      expect(await store.get(threadKey)).toMatchObject({
        version: 3,
        createdAt: created.createdAt,
      });
    });

    define("is refused when the version is another than asked for", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { state: "theirs" });
      const late = (): unknown => store.update(threadKey, { state: "ours" }, { ifVersion: 1 });
      expect(await codeOf(late)).toBe("thread-busy");
      expect(await store.get(threadKey)).toMatchObject({ state: "theirs", version: 2 });
      await store.update(threadKey, { state: "ours" }, { ifVersion: 2 });
      expect(await store.get(threadKey)).toMatchObject({ state: "ours", version: 3 });
    });

    define("wins once when many ask for the same version", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const codes = await Promise.all(
        numbersTo(20).map(async (index) =>
          codeOf(() => store.update(threadKey, { state: index }, { ifVersion: 1 })),
        ),
      );
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(codes.filter((code) => code === "thread-busy")).toHaveLength(19);
      expect(await store.get(threadKey)).toMatchObject({ version: 2 });
    });

    define("takes its turn: a hundred at once keep their order", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await Promise.all(
        numbersTo(100).map(async (index) =>
          store.update(threadKey, {
            append: [user(`m${index}`)],
            metadata: { [`k${index}`]: index },
          }),
        ),
      );
      const session = (await store.get(threadKey))!;
      expect(idsOf(session)).toEqual(numbersTo(100).map((index) => `m${index}`));
      expect(Object.keys(session.metadata)).toHaveLength(100);
      expect(session).toMatchObject({ version: 101, messageCount: 100 });
    });

    define(
      "takes its turn: a hundred at once in two processes lose nothing",
      async () => {
        const stores = [await bench.open(), await bench.openSecond()];
        await stores[0]!.create(threadKey, sessionInit);
        const write = async (index: number): Promise<unknown> =>
          stores[index % 2]!.update(threadKey, { append: [user(`m${index}`)] });
        await Promise.all(numbersTo(100).map(write));
        const session = (await stores[0]!.get(threadKey))!;
        expect(session).toMatchObject({ version: 101, messageCount: 100 });
        const numbers = idsOf(session).map((id) => Number(id.slice(1)));
        for (const parity of [0, 1]) {
          expect(numbers.filter((number) => number % 2 === parity)).toEqual(
            numbersTo(100).filter((number) => number % 2 === parity),
          );
        }
      },
      "second",
    );
  });
}
