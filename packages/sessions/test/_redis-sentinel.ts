import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createSentinel } from "redis";
import type { RedisClient } from "../src/redis/index.ts";
import { hasRedis, killRedis, onFreePort, spawnRedis } from "./_redis.ts";
import { isReplicated } from "./_redis-replication.ts";
import { until } from "./_redis-runs.ts";
import { locate } from "../../../scripts/test-support/services.ts";

/** A server, its replica and a sentinel that makes the replica the server when the first one dies. */
export interface TestSentinel {
  nodeRedis(): Promise<RedisClient>;
  ioRedis(): Promise<RedisClient>;
  /** SIGKILL for the server; resolves when the replica has taken over. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const group = "agui";

export async function startSentinel(suite: string): Promise<TestSentinel | undefined> {
  if (!hasRedis(suite)) return undefined;
  const dir = await mkdtemp(join(tmpdir(), "agui-sentinel-"));
  const closers: (() => unknown)[] = [];
  const start = (flags: readonly string[]) =>
    onFreePort(async (port) => {
      const server = await spawnRedis(port, ["--dir", dir, "--appendonly", "no", ...flags]);
      closers.push(() => killRedis(server));
      return { port, server };
    });
  const master = await start([]);
  const replica = await start(["--replicaof", `127.0.0.1 ${master.port}`]);
  const sentinel = await onFreePort((port) => spawnSentinel(dir, port, master.port));
  closers.push(() => killRedis(sentinel.server));
  const admin = new Redis(sentinel.port, "127.0.0.1");
  closers.push(() => admin.disconnect());
  await until(async () => {
    const replicas = (await admin.call("SENTINEL", "replicas", group)) as string[][];
    return replicas.some(
      (fields) => fields.includes("ok") && fields.includes(String(replica.port)),
    );
  });
  return {
    async nodeRedis() {
      const sentinelRootNodes = [{ host: "127.0.0.1", port: sentinel.port }];
      const client = createSentinel({ name: group, sentinelRootNodes });
      client.on("error", () => undefined);
      await client.connect();
      closers.unshift(() => client.destroy());
      return client;
    },
    async ioRedis() {
      const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
      const client = new Redis({ sentinels, name: group });
      client.on("error", () => undefined);
      await once(client, "ready");
      closers.unshift(() => client.disconnect());
      return client;
    },
    async failOver() {
      await isReplicated(master.port, replica.port);
      await killRedis(master.server);
      const promoted = new Redis(replica.port, "127.0.0.1");
      await until(async () =>
        String(await promoted.call("INFO", "replication")).includes("role:master"),
      );
      promoted.disconnect();
    },
    async stop() {
      for (const close of closers) await close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function spawnSentinel(
  dir: string,
  port: number,
  master: number,
): Promise<{ port: number; server: ChildProcess }> {
  const path = join(dir, `sentinel-${port}.conf`);
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${dir}`,
    `sentinel monitor ${group} 127.0.0.1 ${master} 1`,
    `sentinel down-after-milliseconds ${group} 500`,
    `sentinel failover-timeout ${group} 3000`,
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  const server = spawn(locate("redis") ?? "redis-server", [path, "--sentinel"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of server.stdout) {
    if (String(chunk).includes("+monitor master")) return { port, server };
  }
  throw new Error(`The sentinel ended before it watched port ${master}.`);
}
