import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentError } from "@holodeck/agui-core";
import type { Lease, SessionStore } from "@holodeck/agui-core";
import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import { sqliteSessions } from "../src/sqlite/index.ts";
import { manualClock } from "./_clock.ts";
import { isLost } from "./_is-lost.ts";
import { startRedis } from "./_redis.ts";

const key = { principal: "ann", threadId: "t1" };
const init = { agentId: "a" };
const leaseMs = 1_000;

async function open(store: SessionStore): Promise<Lease> {
  await store.create(key, init);
  return (await store.runs.open({ ...key, runId: "r1" }, init)) as Lease;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => (isAgentError(error) ? error.code : error),
  );

describe("a lease that ran out, though no process has taken the thread", () => {
  const folder = mkdtempSync(join(tmpdir(), "agui-leases-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("writes nothing into a SQLite file", async () => {
    const clock = manualClock();
    const store = sqliteSessions({ path: join(folder, "a.db"), leaseMs, clock });
    const lease = await open(store);
    await store.update(key, { state: "in time" }, { lease });
    clock.stall(leaseMs);
    const late = store.update(key, { state: "late" }, { lease }) as Promise<unknown>;
    expect(await codeOf(late)).toBe("run-lost");
    expect(isLost(lease)).toBe(true);
    expect(await store.get(key)).toMatchObject({ state: "in time" });
    expect(await store.runs.find("ann", "r1")).toMatchObject({ status: "lost" });
    await store.close();
  });

  test("goes on in a SQLite file after an event that was appended", async () => {
    const clock = manualClock();
    const store = sqliteSessions({ path: join(folder, "b.db"), leaseMs, clock });
    const lease = await open(store);
    clock.stall(2 * leaseMs);
    const event = { type: "CUSTOM", name: "mark", value: 1 } as never;
    await store.runs.append(lease, [{ from: 1, to: 1, at: 0, event }]);
    await store.update(key, { state: "in time" }, { lease });
    expect(await store.get(key)).toMatchObject({ state: "in time" });
    await store.close();
  });

  test("writes nothing into Redis", async ({ skip, onTestFinished }) => {
    const redis = await startRedis("leases that ran out");
    if (!redis) return skip();
    onTestFinished(() => redis.stop());
    // Its timers never fire: it does not renew.
    const clock = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => {} };
    const store = redisSessions({ client: await redis.ioRedis(), leaseMs: 50, clock });
    const lease = await open(store);
    const client = await redis.ioRedis();
    // The server's clock is what counts.
    await expect
      .poll(async () => {
        const until = Number(await client.call("HGET", "agui:{ann:t1}:lease", "until"));
        const [seconds] = (await client.call("TIME")) as [string];
        return Number(seconds) * 1_000 > until;
      })
      .toBe(true);
    const late = store.update(key, { state: "late" }, { lease }) as Promise<unknown>;
    expect(await codeOf(late)).toBe("run-lost");
    expect(isLost(lease)).toBe(true);
    expect((await store.get(key))?.state).toBeUndefined();
    await store.close();
  });

  test("reads sessions in Redis that were written before they had an owner and past runs", async ({
    skip,
    onTestFinished,
  }) => {
    const redis = await startRedis("older records");
    if (!redis) return skip();
    onTestFinished(() => redis.stop());
    const client = await redis.ioRedis();
    const old = { agentId: "a", version: 1, createdAt: 1, messageCount: 0, messages: [] };
    const json = JSON.stringify({ ...old, metadata: {}, pending: [] });
    const fields = ["v", "1", "d", json, "w", "x", "a", "1"];
    await client.call("HSET", "agui:{ann:t1}:session", ...fields);
    const store = redisSessions({ client });
    const session = await store.update(key, {
      run: { runId: "r1", request: "1" },
      historyOwner: "server",
    });
    expect(session).toMatchObject({
      historyOwner: "server",
      pastRuns: [{ runId: "r1", request: "1" }],
    });
    expect(await store.get(key)).toEqual(session);
    await store.close();
  });
});
