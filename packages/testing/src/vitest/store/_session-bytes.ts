import type { Message } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { assistant, idsOf, sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { codeOf, numbersTo } from "./_store-bench.ts";

/** How much a thread may hold, and what of it a list reads. */
export function testSessionBytes({ bench, define }: SessionKit): void {
  describe("the bytes of a thread", () => {
    // As JSON: what is measured is what is sent and stored.
    const bytesOf = (messages: readonly Message[], state?: unknown): number =>
      new TextEncoder().encode(JSON.stringify({ messages, state })).byteLength;

    define("are bounded by a change with a limit, before anything is stored", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const maxBytes = 10_000;
      const first = user("1", "x".repeat(6_000));
      await store.update(threadKey, { append: [first], state: { a: 1 }, maxBytes });
      const before = await store.get(threadKey);
      const refused = [
        { append: [user("2", "y".repeat(6_000))] },
        { messages: [user("3", "z".repeat(12_000))] },
        { state: { a: "z".repeat(6_000) } },
        { state: numbersTo(2_000).map(() => ({})) },
        { append: [user("2", "ü".repeat(2_500))] },
        { append: [user("2", "\u0001".repeat(1_000))], metadata: { m: 1 }, lastRunId: "r9" },
      ];
      for (const change of refused) {
        expect(await codeOf(() => store.update(threadKey, { ...change, maxBytes }))).toBe(
          "session-too-large",
        );
        expect(await store.get(threadKey)).toEqual(before);
      }
      await store.update(threadKey, { append: [user("2", "y".repeat(3_000))], maxBytes });
      expect(idsOf(await store.get(threadKey))).toEqual(["1", "2"]);
    });

    define("are counted after pruning, and as JSON to within a few bytes", async () => {
      const store = await bench.open({ maxMessagesPerThread: 2 });
      await store.create(threadKey, sessionInit);
      const texts = ["a".repeat(3_000), "ü".repeat(1_500), '"\n'.repeat(700), "日本".repeat(500)];
      for (const [index, text] of texts.entries()) {
        await store.update(threadKey, { append: [user(`m${index}`, text)], maxBytes: 7_000 });
      }
      const { messages } = (await store.get(threadKey))!;
      expect(messages).toHaveLength(2);
      const state = { list: numbersTo(100) };
      const exact = bytesOf(messages, state);
      expect(await codeOf(() => store.update(threadKey, { state, maxBytes: exact - 100 }))).toBe(
        "session-too-large",
      );
      await store.update(threadKey, { state, maxBytes: exact });
    });

    define("may become fewer, or stay, also past the limit", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, {
        append: [user("1", "x".repeat(9_000)), user("2")],
        state: [1, 2],
      });
      const maxBytes = 1_000;
      await store.update(threadKey, { pending: [], active: null, metadata: { a: 1 }, maxBytes });
      await store.update(threadKey, { state: [1], maxBytes });
      await store.update(threadKey, { messages: [user("1", "x".repeat(8_000))], maxBytes });
      expect(await store.get(threadKey)).toMatchObject({ metadata: { a: 1 }, state: [1] });
      expect(
        await codeOf(() => store.update(threadKey, { append: [user("3", "new")], maxBytes })),
      ).toBe("session-too-large");
    });

    define("are not read for a list", async () => {
      const store = await bench.open();
      await store.create(threadKey, { ...sessionInit, metadata: { name: "n" } });
      const thought: Message = { id: "r", role: "reasoning", content: "thinking" };
      await store.update(threadKey, {
        append: [user("1", "Hello"), thought, assistant("2", "Hi")],
        state: { secret: 1 },
        lastRunId: "r1",
        pending: [{ id: "c", kind: "tool", runId: "r1", value: {} }],
      });
      const { items } = await store.list({ principal: "ann", limit: 10 });
      expect(items).toMatchObject([
        { ...threadKey, agentId: "agent", version: 2, messageCount: 2, metadata: { name: "n" } },
      ]);
      expect(items[0]).toMatchObject({ lastRunId: "r1", size: { messages: 2, characters: 7 } });
      for (const member of ["messages", "state", "times", "pending", "active", "pastRuns"]) {
        expect(items[0]).not.toHaveProperty(member);
      }
    });
  });
}
