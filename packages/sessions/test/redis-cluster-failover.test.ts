import { afterEach, describe, expect, test } from "vitest";
import { slotOf } from "../src/redis/client/slot.ts";
import { redisSessions } from "../src/redis/index.ts";
import { clientKinds } from "./_redis.ts";
import { startCluster } from "./_redis-cluster.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

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
    const lease = await open(owner.runs, run);
    await owner.runs.append(lease, [mark(1)]);
    const cut = follow(view.runs, run);
    await until(() => cut.entries.length === 1);
    await redis.failOver();
    // The run goes on when the clients found the new node in time; else it has one end.
    const appended = await codeOf(() => owner.runs.append(lease, [mark(2)]));
    if (appended === undefined) await owner.runs.close(lease, ending(3), "finished");
    const end = await codeOf(() => cut.ended);
    expect(["store-unavailable", undefined]).toContain(end);
    if (end === undefined) {
      expect(cut.entries.at(-1)!.event.type).toMatch(/^RUN_(FINISHED|ERROR)$/);
      expect(offsets(cut.entries)).toEqual(cut.entries.map((_, index) => index + 1));
    }
    const next = { ...second!, runId: "r2" };
    await until(async () => (await codeOf(() => owner.get(next))) === undefined);
    await owner.create(next, { agentId: "a" });
    const again = await open(owner.runs, next);
    const last = follow(view.runs, next);
    await owner.runs.append(again, [mark(1)]);
    await until(() => last.entries.length === 1);
    await owner.runs.close(again, ending(2), "finished");
    await last.ended;
    expect(offsets(last.entries)).toEqual([1, 2]);
    expect(await view.get(run)).toMatchObject(first!);
  });
});
