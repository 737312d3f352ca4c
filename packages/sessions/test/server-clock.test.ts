import type { Clock, RunKey, SessionStore } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresSessions } from "../src/postgres/index.ts";
import { redisSessions } from "../src/redis/index.ts";
import type { IoRedisClient } from "../src/redis/index.ts";
import { startPostgres } from "./_postgres.ts";
import { startRedis } from "./_redis.ts";
import { ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "stores on a server whose date is set";
const redis = await startRedis(suite);
const postgres = await startPostgres(suite);
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

const hour = 3_600_000;
const patience = { interval: 100, timeout: 30_000 };
const thread = { principal: "ann", threadId: "t1" };
const runKey = (runId: string): RunKey => ({ ...thread, runId });
const init = { agentId: "writer" };

/** One server, and processes that use it. */
interface Bench {
  /** Sets the date of the server, from what it is. */
  jump(ms: number): Promise<void>;
  open(options: { leaseMs: number; clock?: Clock }): SessionStore;
}

/** A client of a server whose clock is set: what its scripts read of the time is shifted. */
function shiftedRedis(client: IoRedisClient, shift: () => number): IoRedisClient {
  const shifted = (): string =>
    `(function() local t = redis.call('TIME') t[1] = t[1] + ${shift() / 1_000} return t end)()`;
  const call = (name: string, ...[first = "", ...rest]: string[]): Promise<unknown> => {
    // As a server that has no script in its memory: then each arrives as text.
    if (name === "EVALSHA") return Promise.reject(new Error("NOSCRIPT planted"));
    const lua = name === "EVAL" ? first.replaceAll("redis.call('TIME')", shifted) : first;
    return client.call(name, lua, ...rest);
  };
  return new Proxy(client, {
    get(target, name) {
      if (name === "call") return call;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

let benches = 0;
const servers = {
  async Redis(): Promise<Bench | undefined> {
    if (!redis) return undefined;
    let shift = 0;
    const client = shiftedRedis(await redis.ioRedis(), () => shift);
    const prefix = `clock${++benches}`;
    return {
      async jump(ms) {
        shift += ms;
      },
      open: (options) => redisSessions({ client, prefix, ...options }),
    };
  },
  async PostgreSQL(): Promise<Bench | undefined> {
    if (!postgres) return undefined;
    const schema = await postgres.schema();
    const client = await postgres.pg();
    let shift = 0;
    return {
      async jump(ms) {
        shift += ms;
        await postgres.sql(
          `CREATE OR REPLACE FUNCTION ${schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
             SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${shift}
           $$`,
        );
      },
      open: (options) => postgresSessions({ client, schema, ...options }),
    };
  },
};

const jumps = [
  ["forward", hour / 60],
  ["back", -hour],
] as const;
const table = Object.keys(servers).flatMap((server) =>
  jumps.map(([direction, ms]) => ({ server: server as keyof typeof servers, direction, ms })),
);

function closing(store: SessionStore): SessionStore {
  onTestFinished(() => store.close());
  return store;
}

describe("a server whose date is set", { timeout: 60_000 }, () => {
  test.for(table)(
    "$direction takes no run from a process that is alive: $server",
    async ({ server, ms }, { skip }) => {
      const bench = await servers[server]();
      if (!bench) return skip();
      // Nothing is renewed in the time of this test.
      const owner = closing(bench.open({ leaseMs: 40_000 }));
      const other = closing(bench.open({ leaseMs: 40_000 }));
      await owner.create(thread, init);
      const lease = await open(owner.runs, runKey("r1"));
      await owner.runs.append(lease, [mark(1)]);
      const following = follow(other.runs, runKey("r1"));
      // Both processes have seen the time of the server.
      await until(() => following.entries.length === 1);
      for (const store of [owner, other]) await store.runs.find("ann", "r1");
      await bench.jump(ms);
      for (const store of [owner, other]) {
        expect(await store.runs.active(thread)).toMatchObject({ runId: "r1", status: "running" });
        expect(await store.runs.open(runKey("r2"), init)).toMatchObject({ busy: { runId: "r1" } });
      }
      expect(await other.runs.send(runKey("r1"), { type: "stop" })).toBe(true);
      await owner.update(thread, { lastRunId: "r1" }, { lease });
      await owner.runs.append(lease, [mark(2)]);
      await owner.update(thread, { lastRunId: "r1" }, { lease });
      await owner.runs.close(lease, ending(3), "finished");
      expect(await other.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 3 });
      await following.ended;
      expect(offsets(following.entries)).toEqual([1, 2, 3]);
      const next = await open(other.runs, runKey("r2"));
      await other.runs.close(next, ending(1), "finished");
    },
  );

  test.for(table)(
    "$direction locks no thread of a process that died: $server",
    async ({ server, ms }, { skip }) => {
      const bench = await servers[server]();
      if (!bench) return skip();
      const leaseMs = 500;
      // Its time stands still: it renews nothing.
      const dead = closing(bench.open({ leaseMs, clock: fakeClock() }));
      const other = closing(bench.open({ leaseMs }));
      await other.create(thread, init);
      await dead.runs.append(await open(dead.runs, runKey("r1")), [mark(1)]);
      await other.runs.find("ann", "r1");
      const following = follow(other.runs, runKey("r1"));
      await until(() => following.entries.length === 1);
      await bench.jump(ms);
      const isFree = async (): Promise<boolean> =>
        !("busy" in (await other.runs.open(runKey("r2"), init)));
      await expect.poll(isFree, patience).toBe(true);
      await following.ended;
      expect(offsets(following.entries)).toEqual([1, 2]);
      expect(await other.runs.find("ann", "r1")).toMatchObject({ status: "lost", last: 2 });
      const { items } = await other.list({ principal: "ann", limit: 5 });
      if (items[0]?.activeRunId !== undefined) expect(items[0].activeRunId).toBe("r2");
    },
  );
});
