import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { NodeRedisClient } from "../src/redis/index.ts";
import { startRedis } from "./_redis.ts";
import { ending, follow, mark, offsets, open } from "./_redis-runs.ts";

const redis = await startRedis("redisSessions: the cost of a replay");

/** A client that counts the characters of the packs that scripts answer with. */
function countReplies(client: NodeRedisClient): { client: NodeRedisClient; characters: number } {
  const counted = { client, characters: 0 };
  counted.client = new Proxy(client, {
    get(target, name) {
      if (name === "isReady") return target.isReady;
      if (name !== "sendCommand") return (target[name as never] as () => void).bind(target);
      return async (command: readonly string[]) => {
        const reply = await target.sendCommand(command);
        if (Array.isArray(reply) && Array.isArray(reply[4])) {
          for (const pack of reply[4]) counted.characters += String(pack).length;
        }
        return reply;
      };
    },
  });
  return counted;
}

describe.runIf(redis)("a replay from Redis", () => {
  afterAll(() => redis!.stop());

  test.for([
    [10_000, 100],
    [40_000, 100],
    [40_000, 7],
  ])("of %d events in batches of %d parses each of them about once", async ([count, size]) => {
    const counted = countReplies(await redis!.nodeRedis());
    const prefix = `replay-${count}-${size}`;
    const store = redisSessions({ client: counted.client, prefix, commandMs: 20_000 });
    const key = { principal: "ann", threadId: "t1", runId: "r1" };
    const lease = await open(store.runs, key);
    let written = 0;
    for (let from = 1; from <= count!; from += size!) {
      const length = Math.min(size!, count! - from + 1);
      const batch = Array.from({ length }, (_, index) => mark(from + index));
      written += JSON.stringify(batch).length;
      await store.runs.append(lease, batch);
    }
    await store.runs.close(lease, ending(count! + 1), "finished");
    const all = Array.from({ length: count! + 1 }, (_, index) => index + 1);

    const follower = follow(store.runs, key);
    await follower.ended;
    expect(offsets(follower.entries)).toEqual(all);
    expect(counted.characters).toBeLessThan(1.1 * written);

    counted.characters = 0;
    expect(offsets(await store.runs.read(key, 0))).toEqual(all);
    expect(counted.characters).toBeLessThan(1.1 * written);

    // By pages, as a client that catches up reads: a batch over the edge of a page is parsed twice.
    counted.characters = 0;
    const paged: number[] = [];
    while (paged.length < all.length) {
      const page = await store.runs.read(key, paged.length, 256);
      expect(page.length).toBeLessThanOrEqual(256);
      paged.push(...offsets(page));
    }
    expect(paged).toEqual(all);
    expect(counted.characters).toBeLessThan(2.5 * written);
    await store.close();
  });
});
