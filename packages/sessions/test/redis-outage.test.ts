import { systemClock } from "@holodeck/agui-core";
import type { Clock, SessionStore } from "@holodeck/agui-core";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisSessionsOptions } from "../src/redis/index.ts";
import { isLost } from "./_is-lost.ts";
import { clientKinds, startRedis } from "./_redis.ts";
import type { TestRedis } from "./_redis.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "redisSessions when Redis is away";
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };
const probe = await startRedis(suite);
await probe?.stop();

const commandMs = 60_000;

/**
 * Its time passes quickly only while Redis is away: before and after, a command may take as long as a
 * busy machine takes.
 */
interface OutageClock extends Clock {
  isAway: boolean;
  /** How many commands were given their time while Redis was away. */
  readonly tried: number;
}

function outageClock(): OutageClock {
  const speed = 300;
  let isAway = false;
  let [since, passed] = [Date.now(), 0];
  let tried = 0;
  const now = (): number => passed + (Date.now() - since) * (isAway ? speed : 1);
  const waiting = new Map<object, { callback: () => void; ms: number; timer: unknown }>();
  const arm = (handle: object, callback: () => void, ms: number): void => {
    const fire = (): void => {
      waiting.delete(handle);
      callback();
    };
    const timer = systemClock.setTimeout(fire, isAway ? ms / speed : ms);
    waiting.set(handle, { callback, ms, timer });
  };
  return {
    now,
    setTimeout(callback, ms) {
      if (isAway && ms === commandMs) tried++;
      const handle = {};
      arm(handle, callback, ms);
      return handle;
    },
    clearTimeout(handle) {
      systemClock.clearTimeout(waiting.get(handle as object)?.timer);
      waiting.delete(handle as object);
    },
    get isAway() {
      return isAway;
    },
    set isAway(value) {
      [passed, since] = [now(), Date.now()];
      isAway = value;
      // A command that is on its way waits at the new pace.
      for (const [handle, { callback, ms, timer }] of waiting) {
        if (ms !== commandMs) continue;
        systemClock.clearTimeout(timer);
        arm(handle, callback, ms);
      }
    },
    get tried() {
      return tried;
    },
  };
}

describe.runIf(probe).each(clientKinds)("when Redis is away, with %s", (kind) => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  async function start(dir?: string): Promise<TestRedis> {
    const redis = (await startRedis(suite, dir))!;
    closers.push(() => redis.stop());
    return redis;
  }

  async function connect(
    redis: TestRedis,
    options?: Partial<RedisSessionsOptions>,
  ): Promise<SessionStore> {
    const client = options?.client ?? (await redis[kind]());
    const store = redisSessions({ commandMs, ...options, client });
    closers.push(() => store.close());
    return store;
  }

  test("a run in flight fails at once, and so does everything else", async () => {
    const redis = await start();
    const clock = outageClock();
    // The clients themselves try for ever, so that only the store can end a call.
    const forEver = { maxRetriesPerRequest: null };
    const client = await (kind === "ioRedis" ? redis.ioRedis(forEver) : redis.nodeRedis());
    const store = await connect(redis, { clock, client });
    const lease = await open(store.runs, key);
    const other = { ...thread, threadId: "t2", runId: "r2" };
    clock.isAway = true;
    await redis.kill();
    const codes = await Promise.all(
      [
        () => store.runs.append(lease, [mark(1)]),
        () => store.runs.open(other, { agentId: "a" }),
        () => store.runs.find("ann", "r1"),
        () => store.get(thread),
        () => store.create(thread, { agentId: "a" }),
        () => store.take("bucket", 1, { tokens: 1, perMs: 1 }),
        () => follow(store.runs, key).ended,
      ].map(codeOf),
    );
    expect(new Set(codes)).toEqual(new Set(["store-unavailable"]));
  });

  test("it forgot everything: owners and followers learn it, and the next run works", async () => {
    const redis = await start();
    const store = await connect(redis, { leaseMs: 3_000 });
    const view = await connect(redis, { leaseMs: 3_000 });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    const follower = follow(view.runs, key);
    await until(() => follower.entries.length === 1);
    await redis.kill();
    await redis.start();
    await until(() => isLost(lease));
    await follower.ended;
    expect(offsets(follower.entries)).toEqual([1, 2]);
    expect(follower.entries.at(-1)!.event).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
    expect(await codeOf(() => store.runs.append(lease, [mark(2)]))).toBe("run-lost");

    const again = await open(store.runs, key);
    const stopped: unknown[] = [];
    store.runs.commands(again, (command) => stopped.push(command));
    const second = follow(view.runs, key);
    await store.runs.append(again, [mark(1)]);
    await until(() => second.entries.length === 1);
    expect(await view.runs.requestStop(key)).toBe(true);
    await until(() => stopped.length === 1);
    await store.runs.close(again, ending(2), "finished");
    await second.ended;
    expect(offsets(second.entries)).toEqual([1, 2]);
  });

  test("it comes back with its data: the run goes on and no client misses anything", async () => {
    const dir = await mkdtemp(join(tmpdir(), "agui-redis-"));
    closers.push(() => rm(dir, { recursive: true }));
    const redis = await start(dir);
    const store = await connect(redis);
    const view = await connect(redis);
    const lease = await open(store.runs, key);
    const follower = follow(view.runs, key);
    await store.runs.append(lease, [mark(1)]);
    await until(() => follower.entries.length === 1);
    await redis.kill();
    const away = store.runs.append(lease, [mark(2), mark(3)]);
    await redis.start();
    await away;
    await store.runs.append(lease, [mark(4)]);
    await store.runs.close(lease, ending(5), "finished");
    await follower.ended;
    expect(offsets(follower.entries)).toEqual([1, 2, 3, 4, 5]);
    expect(await view.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 5 });
  });

  test("it hangs: a batch that landed unanswered does not keep the thread locked", async () => {
    const redis = await start();
    const clock = outageClock();
    const store = await connect(redis, { clock });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    redis.pause();
    clock.isAway = true;
    expect(await codeOf(() => store.runs.append(lease, [mark(2)]))).toBe("store-unavailable");
    clock.isAway = false;
    redis.resume();
    // The owner never heard of offset 2 and ends its run there.
    await store.runs.close(lease, { ...ending(2) }, "failed");
    expect(await store.runs.find("ann", "r1")).toMatchObject({ status: "failed", last: 3 });
    expect(offsets(await store.runs.read(key, 0))).toEqual([1, 2, 3]);
    await open(store.runs, { ...thread, runId: "r2" });
  });

  test("it hangs: of many runs none waits for the others", async () => {
    const redis = await start();
    const clock = outageClock();
    const store = await connect(redis, { clock });
    const leases = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        open(store.runs, { ...thread, threadId: `t${index}`, runId: `r${index}` }),
      ),
    );
    redis.pause();
    clock.isAway = true;
    const codes = await Promise.all(
      leases.map((lease) => codeOf(() => store.runs.append(lease, [mark(1)]))),
    );
    expect(new Set(codes)).toEqual(new Set(["store-unavailable"]));
    // Those that waited for the first ones are not tried in their turn: one after the other, all would be.
    expect(clock.tried).toBeLessThan(leases.length / 2);
    clock.isAway = false;
    redis.resume();
    for (const lease of leases) {
      // Whether its batch has landed or was never sent.
      await store.runs.close(lease, ending(1), "failed");
      expect(await store.runs.active(lease)).toBeUndefined();
    }
  });

  test("it never comes back: followers receive an error", async () => {
    const redis = await start();
    const clock = outageClock();
    const store = await connect(redis, { clock, leaseMs: 2_000 });
    const view = await connect(redis, { clock, leaseMs: 2_000 });
    await open(store.runs, key);
    const follower = follow(view.runs, key);
    await until(async () => (await store.runs.watchers(key)) === 1);
    clock.isAway = true;
    await redis.kill();
    expect(await codeOf(() => follower.ended)).toBe("store-unavailable");
  });
});
