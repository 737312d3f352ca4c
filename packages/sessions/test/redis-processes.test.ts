import type { LogEntry, RunLog } from "@holodeck/agui-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createClient } from "redis";
import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisSessionsOptions } from "../src/redis/index.ts";
import { isLost } from "./_is-lost.ts";
import { startRedis } from "./_redis.ts";
import type { Following } from "./_redis-runs.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const redis = await startRedis("redisSessions in several processes");
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };

// On a busy machine late is not away, and a process that does not come to its turn is not dead.
const patient = { commandMs: 20_000, leaseMs: 60_000 };

let prefixes = 0;
const closers: (() => unknown)[] = [];
const nextPrefix = (): string => `p${++prefixes}`;

/** As another process would have it: with a client of its own. */
async function openLog(prefix: string, options?: Partial<RedisSessionsOptions>): Promise<RunLog> {
  const client = await (closers.length % 2 ? redis!.ioRedis() : redis!.nodeRedis());
  const store = redisSessions({ client, prefix, ...patient, ...options });
  closers.push(() => store.close());
  return store.runs;
}

describe.runIf(redis)("several processes on one Redis", () => {
  afterAll(async () => {
    for (const close of closers) await close();
    await redis!.stop();
  });

  test("show one run alike, from any offset, while it goes on", async () => {
    const prefix = nextPrefix();
    const [owner, ...views] = await Promise.all([1, 2, 3].map(() => openLog(prefix)));
    const lease = await open(owner!, key);
    const followers = [];
    for (let offset = 1; offset <= 300; offset += 3) {
      await owner!.append(lease, [mark(offset), mark(offset + 1), mark(offset + 2)]);
      for (const view of [owner!, ...views]) followers.push(follow(view, key, offset));
    }
    await owner!.close(lease, ending(301), "finished");
    await Promise.all(followers.map(({ ended }) => ended));
    for (const [index, { entries }] of followers.entries()) {
      const after = Math.floor(index / 3) * 3 + 1;
      const rest = Array.from({ length: 301 - after }, (_, place) => after + 1 + place);
      expect(offsets(entries)).toEqual(rest);
    }
  });

  test("wait for a slow reader, which misses nothing of what was too much to keep for it", async () => {
    const prefix = nextPrefix();
    // Longer than this test may take: the look at the lease would find out the end, too.
    const owner = await openLog(prefix, { leaseMs: 3_600_000 });
    const view = await openLog(prefix, { leaseMs: 3_600_000 });
    const lease = await open(owner, key);
    await owner.append(lease, [mark(1)]);
    const quick = follow(view, key);
    const slow = view.follow(key, 0, new AbortController().signal)[Symbol.asyncIterator]();
    const seen = offsets((await slow.next()).value as LogEntry[]);
    const text = "x".repeat(100_000);
    for (let offset = 2; offset <= 40; offset++) await owner.append(lease, [mark(offset, text)]);
    await owner.close(lease, ending(41), "finished");
    await quick.ended;
    for (;;) {
      const { value, done } = await slow.next();
      if (done) break;
      seen.push(...offsets(value));
    }
    const all = Array.from({ length: 41 }, (_, index) => index + 1);
    expect(offsets(quick.entries)).toEqual(all);
    expect(seen).toEqual(all);
  });

  test("see the end of a run whose process was killed, and get its thread", async () => {
    const prefix = nextPrefix();
    // Long enough for a process that is still alive to come to its turn.
    const leaseMs = 3_000;
    const view = await openLog(prefix, { leaseMs });
    const script = fileURLToPath(new URL("./_redis-owner.ts", import.meta.url));
    const args = [String(redis!.port), prefix, String(leaseMs)];
    const owner = spawn(process.execPath, [...sourceFlags, script, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(owner.stdout, "data");
    const follower = follow(view, key);
    await until(() => follower.entries.length > 0);
    expect(await view.open({ ...thread, runId: "r2" }, { agentId: "agent" })).toMatchObject({
      busy: key,
    });
    owner.kill("SIGKILL");
    await follower.ended;
    const last = follower.entries.at(-1)!;
    expect(last.event).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
    expect(offsets(follower.entries)).toEqual(
      Array.from({ length: last.to }, (_, index) => index + 1),
    );
    expect(await view.find("ann", "r1")).toMatchObject({ status: "lost", last: last.to });
    await open(view, { ...thread, runId: "r2" });
  });

  test("never find a stale owner's batch behind the end that was written for it", async () => {
    const prefix = nextPrefix();
    // Its timers stand still: it neither renews nor notices.
    const clock = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => undefined };
    const owner = await openLog(prefix, { clock, leaseMs: 50 });
    const view = await openLog(prefix);
    const lease = await open(owner, key);
    await owner.append(lease, [mark(1), mark(2)]);
    await until(async () => (await view.find("ann", "r1"))?.status === "lost");
    // The first collides with the terminal entry; the others would be accepted by their ids alone.
    const batch = [mark(3), mark(4), mark(5)];
    expect(await codeOf(() => owner.append(lease, batch))).toBe("run-lost");
    expect(await codeOf(() => owner.append(lease, [mark(4)]))).toBe("run-lost");
    const next = { ...key, runId: "r2" };
    const again = await open(view, next);
    expect(await codeOf(() => owner.append(lease, [mark(1)]))).toBe("run-lost");
    expect(await codeOf(() => owner.close(lease, ending(1), "finished"))).toBe("run-lost");
    expect(await view.read(next, 0)).toEqual([]);
    await view.append(again, [mark(1)]);
    expect(isLost(lease)).toBe(true);
  });

  test("run a name on one thread only, when two ask for it at once", async () => {
    const prefix = nextPrefix();
    const logs = await Promise.all([openLog(prefix), openLog(prefix)]);
    for (let round = 0; round < 20; round++) {
      const opened = await Promise.all(
        logs.map(async (runs, index) => {
          const threadId = `${round}-${index}`;
          return runs.open({ principal: "ann", threadId, runId: `run-${round}` }, { agentId: "a" });
        }),
      );
      const leases = opened.filter((one) => !("busy" in one));
      expect(leases).toHaveLength(1);
      const found = await logs[0].find("ann", `run-${round}`);
      expect(found).toMatchObject({ status: "running" });
    }
  });

  test("read nothing but blocking while a hundred followers have nothing to read", async () => {
    const prefix = nextPrefix();
    const owner = await openLog(prefix);
    const client = await redis!.nodeRedis();
    const store = redisSessions({ client, prefix, ...patient });
    closers.push(() => store.close());
    const followers: Following[] = [];
    for (let index = 0; index < 10; index++) {
      const one = { principal: "ann", threadId: `t${index}`, runId: `r${index}` };
      const lease = await open(owner, one);
      await owner.append(lease, [mark(1)]);
      for (let twin = 0; twin < 10; twin++) followers.push(follow(store.runs, one));
    }
    await until(() => followers.every(({ entries }) => entries.length === 1));
    const [ours, owners] = await addresses();
    const seen: string[] = [];
    const monitor = await createClient({
      socket: { host: "127.0.0.1", port: redis!.port },
    }).connect();
    await monitor.monitor((line) => void seen.push(line));
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    monitor.destroy();
    for (const { leave } of followers) leave();
    await Promise.all(followers.map(({ ended }) => ended));

    const commands = seen.filter((line) => ours.some((address) => line.includes(address)));
    expect(commands.map((line) => /"(\w+)"/.exec(line)![1]!.toLowerCase())).toEqual(
      commands.map(() => "xread"),
    );
    // Two in a second, by the server's clock.
    const times = commands.map((line) => Number.parseFloat(line));
    const seconds = times.at(-1)! - times[0]!;
    expect(commands.length).toBeLessThanOrEqual(2 * seconds + 2);
    // Nobody else asks in their place: what remains is the owner's renewals.
    const others = seen.filter((line) => !line.includes(" lua]") && !commands.includes(line));
    expect(others.filter((line) => !owners.some((address) => line.includes(address)))).toEqual([]);

    /** Of the store's connections, and of all that were there before the monitor. */
    async function addresses(): Promise<[string[], string[]]> {
      const list = String(await client.sendCommand(["CLIENT", "LIST"]))
        .trim()
        .split("\n");
      const all = list.map((line) => / addr=(\S+)/.exec(line)![1]!);
      const info = String(await client.sendCommand(["CLIENT", "INFO"]));
      const main = / addr=(\S+)/.exec(info)![1]!;
      const blocked = list.filter((line) => line.includes("cmd=xread"));
      const newest = blocked.map((line) => ({
        id: Number(/id=(\d+)/.exec(line)![1]),
        address: / addr=(\S+)/.exec(line)![1]!,
      }));
      const own = newest.toSorted((a, b) => b.id - a.id)[0]!.address;
      return [[main, own], all.filter((address) => address !== main && address !== own)];
    }
  });

  test("append at most sixteen batches at once each", async () => {
    const client = await redis!.nodeRedis();
    let inFlight = 0;
    let most = 0;
    const counting = new Proxy(client, {
      get(target, name) {
        if (name === "isReady") return target.isReady;
        if (name !== "sendCommand") return (target[name as never] as () => void).bind(target);
        return async (command: readonly string[]) => {
          most = Math.max(most, ++inFlight);
          try {
            return await target.sendCommand(command);
          } finally {
            inFlight--;
          }
        };
      },
    });
    const store = redisSessions({ client: counting, prefix: nextPrefix(), ...patient });
    closers.push(() => store.close());
    const leases = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        open(store.runs, { principal: "ann", threadId: `t${index}`, runId: `r${index}` }),
      ),
    );
    await until(() => inFlight === 0);
    most = 0;
    await Promise.all(leases.map(async (lease) => store.runs.append(lease, [mark(1)])));
    expect(most).toBe(16);
    for (const lease of leases) expect(await store.runs.read(lease, 0)).toEqual([mark(1)]);
  });
});
