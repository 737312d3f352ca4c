import { afterAll, describe, expect, test, vi } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import { clientKinds, startRedis } from "./_redis.ts";

const redis = await startRedis("redisSessions: lists and the policy of eviction");
afterAll(() => redis?.stop());

describe.runIf(redis)("the threads of one agent", () => {
  test("are listed without reading those of others", async () => {
    const client = await redis!.nodeRedis();
    const store = redisSessions({ client, prefix: "agents", commandMs: 20_000 });
    const make = (threadId: string, agentId: string): unknown =>
      store.create({ principal: "ann", threadId }, { agentId });
    for (let at = 0; at < 400; at += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => make(`t${at + index}`, "busy")));
    }
    for (const threadId of ["a", "b", "c"]) await make(threadId, "rare");
    const list = async (agentId: string, limit = 10): Promise<string[]> => {
      const { items } = await store.list({ principal: "ann", agentId, limit });
      return items.map((item) => item.threadId).toSorted();
    };
    const reads = async (): Promise<number> => {
      const info = String(await client.sendCommand(["INFO", "commandstats"]));
      return Number(/cmdstat_hmget:calls=(\d+)/.exec(info)?.[1] ?? 0);
    };

    const before = await reads();
    expect(await list("nope")).toEqual([]);
    expect(await list("rare")).toEqual(["a", "b", "c"]);
    expect((await reads()) - before).toBe(3);
    expect(await list("busy", 500)).toHaveLength(400);

    // Made again for another agent; used again; deleted.
    await store.delete({ principal: "ann", threadId: "a" });
    await make("a", "busy");
    await store.delete({ principal: "ann", threadId: "b" });
    await store.touch({ principal: "ann", threadId: "c" });
    expect(await list("rare")).toEqual(["c"]);
    expect(await list("busy", 500)).toContain("a");
    await store.close();
  });
});

describe.runIf(redis).each(clientKinds)("a Redis that may evict keys, with %s", (kind) => {
  test("is reported once for a store, and one with noeviction is not", async () => {
    const admin = await redis!.nodeRedis();
    const client = await redis![kind]();
    const warn = vi.fn<(fields: object, message?: string) => void>();
    await admin.sendCommand(["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    const store = redisSessions({ client, prefix: kind, logger: { warn }, commandMs: 20_000 });
    await expect.poll(() => warn.mock.calls.length).toBe(1);
    expect(warn.mock.calls[0]).toMatchObject([
      { policy: "allkeys-lru" },
      expect.stringContaining("noeviction"),
    ]);
    await admin.sendCommand(["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    const other = redisSessions({ client, prefix: kind, logger: { warn }, commandMs: 20_000 });
    for (const one of [store, other]) {
      await one.create({ principal: kind, threadId: `${one === store}` }, { agentId: "a" });
      await one.close();
    }
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
