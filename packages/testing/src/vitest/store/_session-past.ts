import type { PastRun } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { assistant, idsOf, sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { numbersTo } from "./_store-bench.ts";

/** What a thread remembers of its past: its owner, its runs, and what was pruned. */
export function testSessionPast({ bench, define }: SessionKit): void {
  describe("the owner of a history", () => {
    for (const [first, second] of [
      ["client", "server"],
      ["server", "client"],
    ] as const) {
      define(`stays the ${first} once it is`, async () => {
        const store = await bench.open();
        await store.create(threadKey, sessionInit);
        expect((await store.get(threadKey))!.historyOwner).toBeUndefined();
        await store.update(threadKey, { append: [user("1")] });
        expect((await store.get(threadKey))!.historyOwner).toBeUndefined();
        expect(await store.update(threadKey, { historyOwner: first })).toMatchObject({
          historyOwner: first,
        });
        await store.update(threadKey, { historyOwner: second, state: 1 });
        await store.update(threadKey, { state: 2 });
        await store.touch(threadKey);
        expect(await store.get(threadKey)).toMatchObject({ historyOwner: first, state: 2 });
        await store.delete(threadKey);
        await store.create(threadKey, sessionInit);
        await store.update(threadKey, { historyOwner: second });
        expect(await store.get(threadKey)).toMatchObject({ historyOwner: second });
      });
    }
  });

  describe("the past runs of a thread", () => {
    const past = (number: number): PastRun => ({ runId: `r${number}`, request: `ü${number}` });

    define("are its last hundred, oldest first", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      expect((await store.get(threadKey))!.pastRuns ?? []).toEqual([]);
      for (const number of numbersTo(103)) await store.update(threadKey, { run: past(number) });
      await store.update(threadKey, { state: 1 });
      expect((await store.get(threadKey))!.pastRuns).toEqual(numbersTo(103, 4).map(past));
    });

    define("name a run once, by its last request", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      for (const number of [1, 2, 3]) await store.update(threadKey, { run: past(number) });
      await store.update(threadKey, { run: { runId: "r2", request: "again" } });
      const expected = [past(1), past(3), { runId: "r2", request: "again" }];
      expect((await store.get(threadKey))!.pastRuns).toEqual(expected);
    });

    define("are gone with the thread", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { run: past(1) });
      await store.delete(threadKey);
      await store.create(threadKey, sessionInit);
      expect((await store.get(threadKey))!.pastRuns ?? []).toEqual([]);
    });
  });

  describe("what was pruned", () => {
    const messages = (to: number, from = 1) =>
      numbersTo(to, from).map((index) => user(`m${index}`));

    define("is counted, and its last one named", async () => {
      const store = await bench.open({ maxMessagesPerThread: 3 });
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { append: messages(3) });
      expect((await store.get(threadKey))!.pruned).toBeUndefined();
      await store.update(threadKey, { append: messages(5, 4) });
      expect(await store.get(threadKey)).toMatchObject({ pruned: { count: 2, lastId: "m2" } });
      await store.update(threadKey, { append: messages(9, 6) });
      expect(await store.get(threadKey)).toMatchObject({ pruned: { count: 6, lastId: "m6" } });
      await store.update(threadKey, { state: 1 });
      await store.touch(threadKey);
      expect(await store.get(threadKey)).toMatchObject({ pruned: { count: 6, lastId: "m6" } });
    });

    define("is counted once, though a client sends the whole history each time", async () => {
      const store = await bench.open({ maxMessagesPerThread: 2 });
      await store.create(threadKey, sessionInit);
      for (const number of numbersTo(6, 3)) {
        await store.update(threadKey, { messages: messages(number) });
        await store.update(threadKey, { messages: messages(number) });
        const session = await store.get(threadKey);
        expect(idsOf(session)).toEqual([`m${number - 1}`, `m${number}`]);
        expect(session).toMatchObject({ pruned: { count: number - 2, lastId: `m${number - 2}` } });
      }
    });

    define("is not what a client left out of its history", async () => {
      const store = await bench.open({ maxMessagesPerThread: 10 });
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { messages: [...messages(3), assistant("a")] });
      await store.update(threadKey, { messages: messages(2) });
      await store.update(threadKey, { messages: [user("m1"), user("edited")] });
      await store.update(threadKey, { messages: [] });
      expect((await store.get(threadKey))!.pruned).toBeUndefined();
    });

    define("is remembered by a client that goes back behind it", async () => {
      const store = await bench.open({ maxMessagesPerThread: 3 });
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { messages: messages(9) });
      await store.update(threadKey, { messages: [user("m1"), user("edited")] });
      expect(await store.get(threadKey)).toMatchObject({ pruned: { count: 6, lastId: "m6" } });
      await store.update(threadKey, { messages: [...messages(4), user("edited")] });
      expect(await store.get(threadKey)).toMatchObject({ pruned: { lastId: "m2" } });
    });

    define("is recorded where a single change sets the bound", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { append: messages(4), maxMessages: 3 });
      await store.update(threadKey, { append: messages(6, 5) });
      expect(idsOf(await store.get(threadKey))).toEqual(["m2", "m3", "m4", "m5", "m6"]);
      expect(await store.get(threadKey)).toMatchObject({ pruned: { count: 1, lastId: "m1" } });
    });
  });
}
