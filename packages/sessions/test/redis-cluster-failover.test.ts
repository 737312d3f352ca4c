import { describe, onTestFinished, test } from "vitest";
import { slotOf } from "../src/redis/client/slot.ts";
import { clientKinds } from "./_redis.ts";
import { startCluster } from "./_redis-cluster.ts";
import { expectFailover, openPair } from "./_redis-failover.ts";

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
    onTestFinished(() => redis.stop());
    const { owner, view } = await openPair(() => redis[kind]());
    const [first, second] = threads.map((threadId) => ({ principal: "ann", threadId }));
    const run = { ...first!, runId: "r1" };
    await owner.create(run, { agentId: "a" });
    const after = { ...second!, runId: "r2" };
    const failOver = (): Promise<unknown> => redis.failOver();
    await expectFailover({ owner, view, during: run, after, failOver });
  });
});
