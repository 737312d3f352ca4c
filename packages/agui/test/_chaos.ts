import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { migrate, postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import type { TestPostgres } from "../../sessions/test/_postgres.ts";
import { promoteStandby, startStandby } from "../../sessions/test/_postgres-standby.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import { until } from "../../sessions/test/_redis-runs.ts";

/** A store of two servers, and what can be done to its database. */
export interface ChaosStore {
  readonly stores: readonly SessionStore[];
  readonly faults: Readonly<Record<string, () => Promise<unknown>>>;
  close(): Promise<void>;
}

export interface ChaosTimes {
  readonly leaseMs: number;
  readonly commandMs: number;
}

/** Returns undefined where its database cannot be had; the suite is then reported as not run. */
type Open = (suite: string, times: ChaosTimes) => Promise<ChaosStore | undefined>;

const none = async (): Promise<void> => undefined;

export const chaosStores: Readonly<Record<string, Open>> = {
  memory: async () => ({ stores: [memorySessions()], faults: {}, close: none }),
  async SQLite(_, { leaseMs }) {
    const folder = await mkdtemp(join(tmpdir(), "agui-chaos-"));
    const path = join(folder, "agui.db");
    return {
      stores: [sqliteSessions({ path, leaseMs }), sqliteSessions({ path, leaseMs })],
      faults: {},
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
  async Redis(suite, times) {
    const folder = await mkdtemp(join(tmpdir(), "agui-chaos-"));
    const redis = await startRedis(suite, folder);
    if (!redis) return undefined;
    const node = await redis.nodeRedis();
    (node as { on?(event: string, listener: () => void): void }).on?.("error", () => undefined);
    const io = await redis.ioRedis();
    io.on("error", () => undefined);
    const admin = await redis.ioRedis();
    admin.on("error", () => undefined);
    return {
      stores: [node, io].map((client) => redisSessions({ client, ...times })),
      faults: {
        async "is killed and started again"() {
          await redis.kill();
          await redis.start();
        },
        "drops all connections": () => admin.call("CLIENT", "KILL", "SKIPME", "yes"),
        async "is stopped for longer than a lease"() {
          redis.pause();
          await pause(times.leaseMs * 1.5);
          redis.resume();
        },
      },
      async close() {
        await redis.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
  async PostgreSQL(suite, times) {
    const server = await startPostgres(suite, { flags: ["-c", "fsync=on"] });
    if (!server) return undefined;
    const servers = [server];
    const address = await openAddress(() => servers.at(-1)!.port);
    const { port } = address;
    // Its own pause between two attempts to connect is up to 20 s.
    const quick = { port, fetch_types: false, backoff: () => 0.2 };
    const clients = [await server.pg({ port }), await server.postgresJs(quick)];
    await migrate({ client: clients[0]! });
    const stores = clients.map((client) => postgresSessions({ client, ...times }));
    const restart = async (mode: "fast" | "immediate"): Promise<void> => {
      await server.shutDown(mode);
      await server.start();
    };
    return {
      stores,
      faults: {
        "is shut down and started again": () => restart("fast"),
        "crashes and is started again": () => restart("immediate"),
        "drops all connections": () =>
          server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
          ),
        "is replaced by its standby": async () =>
          void servers.push(await failOver(servers.at(-1)!)),
        "has no room on its disk": () => fillDisk(server),
        async "is stopped for longer than a lease"() {
          server.pause();
          await pause(times.leaseMs * 1.5);
          server.resume();
        },
      },
      async close() {
        await Promise.all(stores.map(async (store) => store.close()));
        address.close();
        for (const one of servers.toReversed()) await one.stop();
      },
    };
  },
};

/** An address that stays while the server behind it changes. */
async function openAddress(target: () => number): Promise<{ port: number; close: () => void }> {
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(target(), "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy()).on("close", () => (open.delete(one), other.destroy()));
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    port: (proxy.address() as AddressInfo).port,
    close() {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** The disk of the entries is full for a second. Fails where no small one can be mounted. */
async function fillDisk(server: TestPostgres): Promise<void> {
  const spaces = await server.sql("SELECT FROM pg_tablespace WHERE spcname = 'small'");
  if (spaces.length === 0) {
    const disk = await server.smallDisk();
    if (!disk) throw new Error("A file system of a few megabytes takes root.");
    await server.sql(`CREATE TABLESPACE small LOCATION '${disk.path}'`);
    await server.sql("ALTER TABLE agui.entries SET TABLESPACE small");
  }
  await server.sql("CREATE TABLE filler (text text) TABLESPACE small");
  const fill = "INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 20000)";
  await server.sql(fill).then(
    () => Promise.reject(new Error("The disk was not full.")),
    () => undefined,
  );
  await pause(1_000);
  await server.sql("DROP TABLE filler");
}

/** A standby that has every commit that was waited for takes over from a server that crashes. */
async function failOver(primary: TestPostgres): Promise<TestPostgres> {
  const standby = await startStandby(primary);
  await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.sql("SELECT pg_reload_conf()");
  const text = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until(async () => (await primary.sql(text)).length > 0);
  await primary.shutDown("immediate");
  await promoteStandby(standby);
  return standby;
}

/** How far something has come. */
export class Progress {
  #steps = 0;
  #waiting: { steps: number; resolve: () => void }[] = [];

  get steps(): number {
    return this.#steps;
  }

  set steps(steps: number) {
    this.#steps = steps;
    const isReached = (one: { steps: number }): boolean => one.steps <= steps;
    for (const { resolve } of this.#waiting.filter(isReached)) resolve();
    this.#waiting = this.#waiting.filter((one) => !isReached(one));
  }

  /** Resolves when it is there, or the signal aborts. */
  reach(steps: number, signal?: AbortSignal): Promise<void> {
    if (this.#steps >= steps || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ steps, resolve });
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
