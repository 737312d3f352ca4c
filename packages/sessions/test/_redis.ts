import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import { createClient } from "redis";
import type { RedisClientOptions } from "redis";
import type { IoRedisClient, NodeRedisClient } from "../src/redis/index.ts";
import { findService, locate } from "../../../scripts/test-support/services.ts";

/** A Redis of our own on a free port, without a disk. */
export interface TestRedis {
  readonly port: number;
  /** SIGKILL: everything it had is gone. */
  kill(): Promise<void>;
  /** Again, on the same port. */
  start(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** A client of each kind; all are closed by `stop`. */
  nodeRedis(options?: RedisClientOptions): Promise<NodeRedisClient>;
  ioRedis(options?: RedisOptions): Promise<IoRedisClient>;
  stop(): Promise<void>;
}

export const clientKinds = ["nodeRedis", "ioRedis"] as const;

/**
 * Returns undefined when there is no `redis-server`: the caller skips, and the suite is reported as not run.
 * With a directory it keeps its data there.
 */
export async function startRedis(suite: string, dir?: string): Promise<TestRedis | undefined> {
  if (!hasRedis(suite)) return undefined;
  const disk = dir
    ? ["--appendonly", "yes", "--appendfsync", "always", "--dir", dir]
    : ["--appendonly", "no"];
  const closers: (() => void)[] = [];
  const first = await onFreePort(async (port) => ({ port, server: await spawnRedis(port, disk) }));
  const { port } = first;
  let server: ChildProcess | undefined = first.server;

  async function start(): Promise<void> {
    server = await spawnRedis(port, disk);
  }

  const kill = async (): Promise<void> => server && killRedis(server);

  return {
    port,
    start,
    kill,
    pause: () => void server?.kill("SIGSTOP"),
    resume: () => void server?.kill("SIGCONT"),
    async nodeRedis(options = {}) {
      const client = createClient({ ...options, socket: { host: "127.0.0.1", port } });
      await client.connect();
      closers.push(() => client.isOpen && client.destroy());
      return client;
    },
    async ioRedis(options = {}) {
      const client = new Redis(port, "127.0.0.1", options);
      await once(client, "ready");
      closers.push(() => client.disconnect());
      return client;
    },
    async stop() {
      for (const close of closers) close();
      await kill();
    },
  };
}

/** False when this machine has no `redis-server`; the suite is reported as not run. */
export function hasRedis(suite: string): boolean {
  return findService("redis", suite) !== undefined;
}

/** Starts a server and waits until it takes connections. */
export async function spawnRedis(port: number, flags: readonly string[]): Promise<ChildProcess> {
  // Without a file: a replica would leave the data of its primary in this folder, and the next server would load it.
  const inMemory = ["--save", "", "--repl-diskless-sync", "yes", "--repl-diskless-load", "swapdb"];
  const common = ["--port", String(port), "--bind", "127.0.0.1", ...inMemory];
  const server = spawn(locate("redis") ?? "redis-server", [...common, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const chunk of server.stdout) {
    if (String(chunk).includes("Ready to accept connections")) return server;
  }
  throw new Error(`redis-server ended before it took connections on port ${port}.`);
}

/** Somebody may take a port between looking for one and using it: then another one is tried. */
export async function onFreePort<T>(use: (port: number) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      return await use(await freePort());
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** By its pid, and waits until it is gone. */
export async function killRedis(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  server.kill("SIGKILL");
  await exited;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
