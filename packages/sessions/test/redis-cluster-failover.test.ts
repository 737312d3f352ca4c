import { afterEach, describe, test } from "vitest";
import { slotOf } from "../src/redis/client/slot.ts";
import { redisSessions } from "../src/redis/index.ts";
import { clientKinds } from "./_redis.ts";
import { startCluster } from "./_redis-cluster.ts";
import { expectFailover } from "./_redis-failover.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Threads on the node that has the first third of the slots. */
const threads = Array.from({ length: 100 }, (_, index) => `t${index}`).filter(
  (threadId) => slotOf(`agui:{ann:${threadId}}:session`) < 5_461,
);

describe.for(clientKinds)("a node of a cluster whose replica takes over, with %s", (kind) => {
  test("serves its threads again", { timeout: 120_000 }, async ({ skip }) => {
    const redis = await startCluster("redisSessions on a cluster that fails over", {
      hasReplica: true,
    });
    if (!redis) return skip();
    closers.push(() => redis.stop());
    const options = { commandMs: 5_000, leaseMs: 3_000 };
    const owner = redisSessions({ client: await redis[kind](), ...options });
    const view = redisSessions({ client: await redis[kind](), ...options });
    closers.push(
      () => owner.close(),
      () => view.close(),
    );
    const [first, second] = threads.map((threadId) => ({ principal: "ann", threadId }));
    const run = { ...first!, runId: "r1" };
    await owner.create(run, { agentId: "a" });
    const after = { ...second!, runId: "r2" };
    const failOver = (): Promise<unknown> => redis.failOver();
    await expectFailover({ owner, view, during: run, after, failOver });
  });
});
