import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";
import { startRedis } from "./_redis.ts";
import { ending, follow, mark, open, until } from "./_redis-runs.ts";

const redis = await startRedis("redisSessions: keys and clients");

// On a busy machine late is not away.
const commandMs = 20_000;

const ids = [
  "a",
  "a:b",
  "b:c",
  "{a}",
  "}{",
  "{}",
  "{",
  "}",
  "%007b",
  "a b",
  "ä😀",
  "\ud83c",
  "\n",
  "",
];

describe.runIf(redis)("redisSessions", () => {
  afterAll(() => redis!.stop());

  test("keeps each thread in one slot of a cluster, whatever it is called, and lets every key expire", async () => {
    const client = await redis!.nodeRedis();
    const store = redisSessions({ client, prefix: "slots", maxSessions: 10_000, commandMs });
    const tags = new Map<string, string>();
    for (const principal of ids) {
      for (const threadId of ids) {
        const key = { principal, threadId, runId: `${threadId}:run` };
        const before = new Set(await keysOf(client));
        await store.create(key, { agentId: "a" });
        const lease = await open(store.runs, key);
        await store.runs.append(lease, [mark(1)]);
        const follower = follow(store.runs, key);
        await until(() => follower.entries.length === 1);
        expect(await store.runs.requestStop(key)).toBe(true);
        const added = (await keysOf(client)).filter((name) => !before.has(name));
        const own = added.filter((name) => name.includes("{"));
        expect(own.map((name) => /\}:([a-z]+)/.exec(name)![1]!).toSorted()).toEqual([
          "cmd",
          "lease",
          "log",
          "run",
          "runs",
          "session",
          "watch",
        ]);
        expect(new Set(own.map(slotOf)).size).toBe(1);
        const tag = hashTag(own[0]!);
        expect(tags.get(tag)).toBeUndefined();
        tags.set(tag, JSON.stringify(key));
        follower.leave();
        await follower.ended;
        await store.runs.close(lease, ending(2), "finished");
        expect(await store.get(key)).toMatchObject({ principal, threadId });
      }
    }
    await store.take("bucket", 1, { tokens: 2, perMs: 60_000 });
    const endless = [];
    for (const name of await keysOf(client)) {
      // -1: without an end; -2: over meanwhile.
      if (Number(await client.sendCommand(["PTTL", name])) === -1) endless.push(name);
    }
    expect(endless).toEqual([]);
    await store.close();
  });

  test.for<[string, () => Promise<RedisClient>]>([
    ["node-redis and RESP 2", () => redis!.nodeRedis({ RESP: 2 as 3 })],
    ["node-redis and RESP 3", () => redis!.nodeRedis({ RESP: 3 })],
    ["ioredis and RESP 3", () => redis!.ioRedis({ protocol: 3 })],
    ["ioredis and a prefix of its own", () => redis!.ioRedis({ keyPrefix: "{own}:" })],
    [
      "ioredis and a timeout shorter than a blocking read",
      () => redis!.ioRedis({ commandTimeout: 100 }),
    ],
  ])("works with %s", async ([name, connect]) => {
    const store = redisSessions({
      client: await connect(),
      prefix: name.replaceAll(" ", "-"),
      commandMs,
    });
    const key = { principal: "ann", threadId: "t1", runId: "r1" };
    await store.create(key, { agentId: "a" });
    const lease = await open(store.runs, key);
    const heard: unknown[] = [];
    store.runs.commands(lease, (command) => heard.push(command));
    const follower = follow(store.runs, key);
    for (const offset of [1, 2, 3]) {
      await store.runs.append(lease, [mark(offset)]);
      await until(() => follower.entries.length === offset);
    }
    expect(await store.runs.requestStop(key)).toBe(true);
    await until(() => heard.length === 1);
    await store.runs.close(lease, ending(4), "cancelled");
    await follower.ended;
    const { items } = await store.list({ principal: "ann", limit: 10 });
    expect(items).toMatchObject([{ threadId: "t1" }]);
    expect(await store.delete(key)).toBe(true);
    await store.close();
  });

  test("refuses what is not a client, and a prefix that would choose the slot", async () => {
    expect(() => redisSessions({ client: {} as RedisClient })).toThrow(/createSentinel.*`ioredis`/);
    const client = await redis!.nodeRedis();
    expect(() => redisSessions({ client, prefix: "{a}" })).toThrow(/braces/);
  });

  test("leaves the client of its host open", async () => {
    const client = await redis!.nodeRedis();
    const store = redisSessions({ client, prefix: "host" });
    await open(store.runs, { principal: "ann", threadId: "t1", runId: "r1" });
    await store.close();
    expect(await client.sendCommand(["PING"])).toBe("PONG");
  });
});

async function keysOf(client: {
  sendCommand(command: readonly string[]): Promise<unknown>;
}): Promise<string[]> {
  return (await client.sendCommand(["KEYS", "slots:*"])) as string[];
}

// What decides the slot, as the cluster specification has it.
function hashTag(name: string): string {
  const start = name.indexOf("{");
  const end = name.indexOf("}", start + 1);
  return start === -1 || end === -1 || end === start + 1 ? name : name.slice(start + 1, end);
}

function slotOf(name: string): number {
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashTag(name))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % 16_384;
}
