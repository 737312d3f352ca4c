import { describe, expect, onTestFinished, test } from "vitest";
import { clientKinds } from "./_redis.ts";
import { expectFailover, openPair } from "./_redis-failover.ts";
import { ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";
import { startSentinel } from "./_redis-sentinel.ts";

const key = { principal: "ann", threadId: "t1", runId: "r1" };

describe.for(clientKinds)("a server that sentinels name, with %s", (kind) => {
  test(
    "keeps threads and runs, and the next run works when a replica has taken over",
    { timeout: 120_000 },
    async ({ skip }) => {
      const redis = await startSentinel("redisSessions with sentinels");
      if (!redis) return skip();
      onTestFinished(() => redis.stop());
      const { owner, view } = await openPair(() => redis[kind]());

      await owner.create(key, { agentId: "a" });
      const lease = await open(owner.runs, key);
      const stops: unknown[] = [];
      owner.runs.commands(lease, (command) => stops.push(command));
      const follower = follow(view.runs, key);
      for (const offset of [1, 2, 3]) {
        await owner.runs.append(lease, [mark(offset)]);
        await until(() => follower.entries.length === offset);
      }
      expect(await view.runs.requestStop(key)).toBe(true);
      await until(() => stops.length === 1);
      await owner.runs.close(lease, ending(4), "finished");
      await follower.ended;
      expect(offsets(follower.entries)).toEqual([1, 2, 3, 4]);

      const during = { ...key, runId: "r2" };
      const after = { ...key, threadId: "t3", runId: "r3" };
      const failOver = (): Promise<unknown> => redis.failOver();
      await expectFailover({ owner, view, during, after, failOver });
    },
  );
});
