import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { systemClock } from "@holodeck/agui-core";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, describe, expect, test } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";
import { clientKinds, startRedis } from "./_redis.ts";
import { follow, mark, open, until } from "./_redis-runs.ts";

const redis = await startRedis("redisSessions and the client of its host");
const closers: (() => unknown)[] = [];

afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await redis?.stop();
});

describe.runIf(redis).each(clientKinds)("a client of the host, %s", (kind) => {
  test("gets one listener of each event from all stores, and has none when they are closed", async () => {
    const client = (await redis![kind]()) as RedisClient & NodeJS.EventEmitter;
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const counts = (): number[] => ["error", "ready"].map((event) => client.listenerCount(event));
    const before = counts();
    const stores = Array.from({ length: 11 }, (_, index) =>
      redisSessions({ client, prefix: `${kind}-${index}`, commandMs: 20_000 }),
    );
    for (const store of stores)
      await store.create({ principal: "", threadId: "t" }, { agentId: "a" });
    expect(counts()).toEqual(before.map((count) => count + 1));
    await stores[0]!.close();
    await stores[0]!.close();
    expect(counts()).toEqual(before.map((count) => count + 1));
    for (const store of stores) await store.close();
    expect(counts()).toEqual(before);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});

describe.runIf(redis)("opening a run", () => {
  test("in a process that dies halfway leaves no run that is busy and cannot be found", async () => {
    const client = await redis!.nodeRedis();
    const prefix = "halfway";
    let isDead = false;
    // It dies when the server has answered the first step.
    const dying = new Proxy(client, {
      get(target, name) {
        if (name === "isReady") return target.isReady;
        if (name !== "sendCommand") return (target[name as never] as () => void).bind(target);
        return async (command: readonly string[]) => {
          if (isDead) return new Promise(() => undefined);
          const reply = await target.sendCommand(command);
          if (Array.isArray(reply) && reply[0] === "ok") isDead = true;
          return reply;
        };
      },
    });
    const clock = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => undefined };
    const key = { principal: "ann", threadId: "t1", runId: "r1" };
    const owner = redisSessions({ client: dying, prefix, clock });
    void Promise.resolve(owner.runs.open(key, { agentId: "a" })).catch(() => undefined);
    await until(() => isDead);
    const view = redisSessions({ client, prefix, commandMs: 20_000 });
    closers.push(() => view.close());
    expect(await view.runs.open(key, { agentId: "a" })).toMatchObject({ busy: key });
    expect(await view.runs.find("ann", "r1")).toMatchObject({ ...key, status: "running" });
    expect(await view.runs.requestStop(key)).toBe(true);
  });
});

/** Passes everything on; what the server answers to the first connection comes later. */
async function startLag(port: number, lagMs: number): Promise<{ port: number; server: Server }> {
  let connections = 0;
  const server = createServer((socket) => {
    const isLagging = connections++ === 0;
    const behind = createConnection(port, "127.0.0.1");
    socket.pipe(behind);
    behind.on("data", (chunk) => {
      if (isLagging) setTimeout(() => socket.write(chunk), lagMs);
      else socket.write(chunk);
    });
    for (const one of [socket, behind]) {
      one.on("error", () => undefined);
      one.on("close", () => {
        socket.destroy();
        behind.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

describe.runIf(redis).each(clientKinds)("a stop, with %s", (kind) => {
  test("is received long before the blocking read ends by itself, though replies lag", async () => {
    const lagMs = 60;
    const lag = await startLag(redis!.port, lagMs);
    closers.push(() => lag.server.close());
    const socket = { host: "127.0.0.1", port: lag.port };
    const client =
      kind === "nodeRedis" ? await createClient({ socket }).connect() : new Redis(socket);
    closers.push(() => (client instanceof Redis ? client.disconnect() : client.destroy()));
    const prefix = `lag-${kind}`;
    const owner = redisSessions({ client, prefix, commandMs: 20_000 });
    const other = redisSessions({ client: await redis!.nodeRedis(), prefix, commandMs: 20_000 });
    closers.push(
      () => owner.close(),
      () => other.close(),
    );
    const stopped = new Set<string>();
    const listen = async (name: string): Promise<void> => {
      const key = { principal: "ann", threadId: name, runId: name };
      const lease = await open(owner.runs, key);
      owner.runs.commands(lease, () => stopped.add(name));
    };
    // One that is read already; then others, so close together that a reply is always on its way.
    await listen("first");
    let slowestMs = 0;
    for (const round of ["a", "b", "c"]) {
      const names = Array.from({ length: 12 }, (_, index) => `${round}${index}`);
      const opening = [];
      for (const name of names) {
        opening.push(listen(name));
        await new Promise((resolve) => setTimeout(resolve, lagMs / 12));
      }
      await Promise.all(opening);
      // Only the last one: a command for another would make the reader look at all of them.
      const runId = names.at(-1)!;
      const began = performance.now();
      expect(await other.runs.requestStop({ principal: "ann", threadId: runId, runId })).toBe(true);
      await until(() => stopped.has(runId));
      slowestMs = Math.max(slowestMs, performance.now() - began);
    }
    // A read that is not woken waits half a second.
    expect(slowestMs).toBeLessThan(2_500);
  });
});

describe.runIf(redis)("a follower whose clock was set back", () => {
  test("receives the end of a run whose process died", async () => {
    const dead = { now: () => Date.now(), setTimeout: () => 0, clearTimeout: () => undefined };
    let shift = 0;
    const clock = { ...systemClock, now: () => Date.now() + shift };
    const options = { prefix: "set-back", leaseMs: 500, commandMs: 20_000 };
    const owner = redisSessions({ client: await redis!.nodeRedis(), ...options, clock: dead });
    const view = redisSessions({ client: await redis!.nodeRedis(), ...options, clock });
    closers.push(
      () => owner.close(),
      () => view.close(),
    );
    const key = { principal: "ann", threadId: "t1", runId: "r1" };
    const lease = await open(owner.runs, key);
    await owner.runs.append(lease, [mark(1)]);
    const follower = follow(view.runs, key);
    await until(() => follower.entries.length === 1);
    shift = -3_600_000;
    await until(() => follower.entries.length === 2);
    await follower.ended;
    expect(follower.entries.at(-1)!.event).toMatchObject({ code: "run-lost" });
  });
});
