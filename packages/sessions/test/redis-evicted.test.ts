import type { LogEntry, RunLog, SessionStore } from "@holodeck/agui-core";
import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import { startRedis } from "./_redis.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const redis = await startRedis("redisSessions when Redis evicts or refuses");
const key = { principal: "ann", threadId: "t1", runId: "r1" };
const closers: (() => unknown)[] = [];
let prefixes = 0;

interface Opened {
  readonly store: SessionStore;
  readonly runs: RunLog;
  readonly prefix: string;
  command(...command: string[]): Promise<unknown>;
}

async function openStore(prefix = `e${++prefixes}`, leaseMs = 60_000): Promise<Opened> {
  const client = await redis!.nodeRedis();
  const store = redisSessions({ client, prefix, commandMs: 20_000, leaseMs });
  closers.push(() => store.close());
  const command = (...words: string[]): Promise<unknown> => client.sendCommand(words);
  return { store, runs: store.runs, prefix, command };
}

afterAll(async () => {
  for (const close of closers) await close();
  await redis?.stop();
});

const logOf = (prefix: string): string => `${prefix}:{ann:t1}:log:r1`;

async function scripts({ command }: Opened): Promise<number> {
  const info = String(await command("INFO", "commandstats"));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
}

describe.runIf(redis)("a log that Redis has evicted", () => {
  test("ends each reader of an ended run with replay-gone, after one look", async () => {
    const opened = await openStore();
    const { runs, prefix, command } = opened;
    const lease = await open(runs, key);
    await runs.append(lease, [mark(1), mark(2)]);
    await runs.close(lease, ending(3), "finished");
    await command("DEL", logOf(prefix));
    const before = await scripts(opened);
    expect(await codeOf(() => follow(runs, key).ended)).toBe("replay-gone");
    expect(await codeOf(() => follow(runs, key, 2).ended)).toBe("replay-gone");
    expect(await codeOf(() => runs.read(key, 0))).toBe("replay-gone");
    expect((await scripts(opened)) - before).toBeLessThan(20);
    // Who has seen the end misses nothing.
    const late = follow(runs, key, 3);
    await late.ended;
    expect(late.entries).toEqual([]);
    expect(await runs.read(key, 3)).toEqual([]);
  });

  test("ends readers of a running run that would miss something, and no other", async () => {
    const { runs, prefix, command } = await openStore();
    const view = await openStore(prefix);
    const lease = await open(runs, key);
    await runs.append(lease, [mark(1), mark(2), mark(3)]);
    const live = follow(view.runs, key);
    await until(() => live.entries.length === 3);
    await command("DEL", logOf(prefix));
    expect(await codeOf(() => follow(view.runs, key, 1).ended)).toBe("replay-gone");
    await runs.append(lease, [mark(4), mark(5)]);
    for (const after of [0, 1, 2]) {
      expect(await codeOf(() => follow(view.runs, key, after).ended)).toBe("replay-gone");
      expect(await codeOf(() => view.runs.read(key, after))).toBe("replay-gone");
    }
    const rest = follow(view.runs, key, 3);
    await until(() => rest.entries.length === 2);
    await runs.close(lease, ending(6), "finished");
    await Promise.all([live.ended, rest.ended]);
    expect(offsets(live.entries)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(offsets(rest.entries)).toEqual([4, 5, 6]);
    expect(await codeOf(() => view.runs.read(key, 0))).toBe("replay-gone");
  });

  test("is trimmed by what is left of it, not by what it once was", async () => {
    const client = await redis!.nodeRedis();
    const prefix = `e${++prefixes}`;
    const store = redisSessions({ client, prefix, commandMs: 20_000, runLogEvents: 8 });
    closers.push(() => store.close());
    const lease = await open(store.runs, key);
    for (const offset of [1, 2, 3, 4, 5, 6, 7]) await store.runs.append(lease, [mark(offset)]);
    await client.sendCommand(["DEL", logOf(prefix)]);
    for (const offset of [8, 9, 10, 11]) await store.runs.append(lease, [mark(offset)]);
    expect(offsets(await store.runs.read(key, 8))).toEqual([9, 10, 11]);
  });

  test("and a record that is gone with the log left end the reader and the owner", async () => {
    const { runs, prefix, command } = await openStore();
    const lease = await open(runs, key);
    await runs.append(lease, [mark(1)]);
    const follower = follow(runs, key);
    await until(() => follower.entries.length === 1);
    await command("DEL", `${prefix}:{ann:t1}:run:r1`);
    expect(await codeOf(() => runs.append(lease, [mark(2)]))).toBe("run-lost");
    expect(await runs.find("ann", "r1")).toBeUndefined();
    follower.leave();
    await follower.ended;
  });
});

describe.runIf(redis)("a Redis that is full", () => {
  test("lets readers read, and ends each follower once when the run cannot go on", async () => {
    const full = (await startRedis("a full Redis"))!;
    const [here, there] = [await full.nodeRedis(), await full.ioRedis()];
    const options = { commandMs: 20_000, leaseMs: 1_500 };
    const owner = redisSessions({ client: here, ...options });
    const view = redisSessions({ client: there, ...options });
    closers.push(
      () => owner.close(),
      () => view.close(),
      () => full.stop(),
    );
    const done = { ...key, threadId: "t2", runId: "r2" };
    const other = await open(owner.runs, done);
    await owner.runs.append(other, [mark(1)]);
    await owner.runs.close(other, ending(2), "finished");
    const lease = await open(owner.runs, key);
    await owner.runs.append(lease, [mark(1)]);
    const before = follow(view.runs, key);
    await until(() => before.entries.length === 1);
    await here.sendCommand(["CONFIG", "SET", "maxmemory", "1"]);
    expect(await codeOf(() => owner.runs.append(lease, [mark(2)]))).toBe("store-unavailable");
    // Ended runs can be read to their end.
    const replay = follow(view.runs, done);
    await replay.ended;
    expect(offsets(replay.entries)).toEqual([1, 2]);
    // The owner cannot write an end: those who follow receive one each.
    const during = follow(view.runs, key);
    const ends = await Promise.all([before, during].map(({ ended }) => codeOf(() => ended)));
    expect(ends).toEqual(["store-unavailable", "store-unavailable"]);
    const seen: LogEntry[][] = [before.entries, during.entries];
    expect(seen.map(offsets)).toEqual([[1], [1]]);
  });
});
