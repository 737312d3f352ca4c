import type { Message } from "@holodeck/agui-core";
import { describe, expect } from "vitest";
import { idsOf, sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";
import { numbersTo } from "./_store-bench.ts";

/** What is left of a thread that has become too long. */
export function testSessionPruning({ bench, define }: SessionKit): void {
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
      await store.create(threadKey, sessionInit);
      for (const index of numbersTo(10))
        await store.update(threadKey, { append: [user(`m${index}`)] });
      const session = await store.get(threadKey);
      expect(idsOf(session)).toEqual(["m8", "m9", "m10"]);
      expect(session).toMatchObject({ messageCount: 10 });
    });

    define("is cut to fewer by a change with a limit, never to more", async () => {
      const store = await bench.open({ maxMessagesPerThread: 5 });
      await store.create(threadKey, sessionInit);
      const append = numbersTo(10).map((index) => user(`m${index}`));
      await store.update(threadKey, { append, maxMessages: 8 });
      expect(idsOf(await store.get(threadKey))).toEqual(["m6", "m7", "m8", "m9", "m10"]);
      await store.update(threadKey, { append: [user("m11")], maxMessages: 2 });
      expect(idsOf(await store.get(threadKey))).toEqual(["m10", "m11"]);
      await store.update(threadKey, { append: [user("m12")] });
      expect(idsOf(await store.get(threadKey))).toEqual(["m10", "m11", "m12"]);
    });

    define("keeps system messages, and tool calls with their results", async () => {
      const store = await bench.open({ maxMessagesPerThread: 4 });
      await store.create(threadKey, sessionInit);
      const append: Message[] = [
        { id: "s", role: "system", content: "x" },
        user("1"),
        ...call("c1"),
        { id: "d", role: "developer", content: "x" },
        ...call("c2"),
      ];
      await store.update(threadKey, { append });
      expect(idsOf(await store.get(threadKey))).toEqual(["s", "d", "ac2", "tc2"]);
      await store.update(threadKey, { append: [user("2")] });
      expect(idsOf(await store.get(threadKey))).toEqual(["s", "d", "2"]);
    });

    define("is cut to so many tokens, a quarter of the characters each", async () => {
      const store = await bench.open({ maxTokens: 25 });
      await store.create(threadKey, sessionInit);
      const append = numbersTo(10).map((index) => user(`m${index}`, "x".repeat(40)));
      await store.update(threadKey, { append });
      expect(idsOf(await store.get(threadKey))).toEqual(["m9", "m10"]);
    });

    define("is kept whole by default", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      await store.update(threadKey, { append: numbersTo(500).map((index) => user(`m${index}`)) });
      expect((await store.get(threadKey))!.messages).toHaveLength(500);
    });
  });
}
