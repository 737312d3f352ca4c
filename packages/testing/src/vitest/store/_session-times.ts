import type { Message } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";

/** When the messages of a thread came about. */
export function testSessionTimes({ bench, define }: SessionKit): void {
  const calling: Message = {
    id: "a",
    role: "assistant",
    toolCalls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  };

  describe("the time of a message", () => {
    define("is when it was stored, and stays what it was", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const { times, lastActivity } = await store.update(threadKey, { append: [user("1")] });
      expect(times).toEqual({ "1": lastActivity });
      await bench.pass(50);
      await store.update(threadKey, { append: [user("1", "sent again"), user("2")] });
      const session = (await store.get(threadKey))!;
      expect(Object.keys(session.times!).toSorted()).toEqual(["1", "2"]);
      expect(session.times!["1"]).toBe(lastActivity);
      expect(session.times!["2"]).toBeGreaterThan(lastActivity);
      await store.update(threadKey, { state: 1 });
      expect((await store.get(threadKey))!.times).toEqual(session.times);
    });

    define("is the one given with it, and so is that of a tool call", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const times = { a: 1_000, c: 2_000, t: 3_000, unknown: 4_000 };
      const result: Message = { id: "t", role: "tool", toolCallId: "c", content: "x" };
      await store.update(threadKey, { messages: [calling, result], times });
      expect((await store.get(threadKey))!.times).toEqual({ a: 1_000, c: 2_000, t: 3_000 });
      await store.update(threadKey, {
        append: [user("1")],
        times: { a: 9, c: 9, t: 9, "1": 5_000 },
      });
      expect((await store.get(threadKey))!.times).toEqual({
        a: 1_000,
        c: 2_000,
        t: 3_000,
        "1": 5_000,
      });
    });

    define("goes with it", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const times = { a: 1, c: 2, "1": 3, "2": 4 };
      await store.update(threadKey, { append: [calling, user("1"), user("2")], times });
      await store.update(threadKey, { messages: [user("1"), user("2")] });
      expect((await store.get(threadKey))!.times).toEqual({ "1": 3, "2": 4 });
      await store.update(threadKey, { append: [user("3")], times: { "3": 5 }, maxMessages: 2 });
      expect((await store.get(threadKey))!.times).toEqual({ "2": 4, "3": 5 });
    });

    define("is kept under any name", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      const names = ["__proto__", "constructor", "toString", "ü 😀", ""];
      const times = Object.fromEntries(names.map((name, index) => [name, index + 1]));
      await store.update(threadKey, { append: names.map((name) => user(name)), times });
      const kept = (await store.get(threadKey))!.times!;
      expect(names.map((name) => Object.getOwnPropertyDescriptor(kept, name)?.value)).toEqual([
        1, 2, 3, 4, 5,
      ]);
    });
  });
}
