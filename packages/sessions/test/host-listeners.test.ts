import type { EventEmitter } from "node:events";
import type { SessionStore } from "@holodeck/agui-core";
import { Pool } from "pg";
import postgres from "postgres";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { postgresSessions } from "../src/postgres/index.ts";
import { redisSessions } from "../src/redis/index.ts";
import { startPostgres } from "./_postgres.ts";
import { startRedis } from "./_redis.ts";
import { startSentinel } from "./_redis-sentinel.ts";
import { codeOf, follow, mark, open, until } from "./_redis-runs.ts";

const suite = "listeners on the client of a host";
const redis = await startRedis(suite);
const server = await startPostgres(suite);
afterAll(async () => {
  await redis?.stop();
  await server?.stop();
});

// One more than Node warns of.
const stores = 12;
// On a busy machine late is not away.
const patient = { commandMs: 60_000, leaseMs: 120_000 };

/** Uses a store in all ways that listen, and returns what its follower receives when it is closed. */
async function use(store: SessionStore, threadId: string): Promise<[Promise<string | undefined>]> {
  const key = { principal: "ann", threadId, runId: threadId };
  await store.create(key, { agentId: "a" });
  const lease = await open(store.runs, key);
  store.runs.commands(lease, () => undefined);
  const follower = follow(store.runs, key);
  await store.runs.append(lease, [mark(1)]);
  await until(() => follower.entries.length === 1);
  return [codeOf(() => follower.ended)];
}

/** Opens, uses and closes stores: each alone, and then all at once. */
async function openAndClose(create: (name: string) => SessionStore): Promise<void> {
  for (const isTogether of [false, true]) {
    const opened: (() => Promise<void>)[] = [];
    for (let index = 0; index < stores; index++) {
      const name = `${isTogether ? "all" : "each"}-${index}`;
      const store = create(name);
      const [end] = await use(store, name);
      const close = async (): Promise<void> => {
        await store.close();
        await end;
      };
      if (isTogether) opened.push(close);
      else await close();
    }
    await Promise.all(opened.map((close) => close()));
  }
}

/** The connection that listens on the channel of a schema. */
async function listening(schema: string): Promise<number | undefined> {
  const sql = `SELECT pid FROM pg_stat_activity WHERE query = 'listen "${schema}"'`;
  const [found] = (await server!.sql(sql)) as { pid: number }[];
  return found?.pid;
}

function listeners(client: EventEmitter): Record<string, number> {
  const counts = client.eventNames().map((name) => [String(name), client.listenerCount(name)]);
  return Object.fromEntries(counts) as Record<string, number>;
}

/** What Node reports about too many listeners. */
function warnings(): Error[] {
  const received: Error[] = [];
  const onWarning = (warning: Error): void => void received.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  return received;
}

const clients = {
  nodeRedis: () => redis?.nodeRedis(),
  ioRedis: () => redis?.ioRedis(),
  async createSentinel() {
    const sentinel = await startSentinel(suite);
    onTestFinished(() => sentinel?.stop());
    return sentinel?.nodeRedis();
  },
};

describe(
  `${stores} stores that were opened and closed leave no listener`,
  { timeout: 120_000 },
  () => {
    test.for(Object.keys(clients) as (keyof typeof clients)[])("on %s", async (kind, { skip }) => {
      const client = await clients[kind]();
      if (!client) return skip();
      const received = warnings();
      const before = listeners(client as never);
      await openAndClose((prefix) =>
        redisSessions({ client, prefix: `${kind}-${prefix}`, ...patient }),
      );
      expect(listeners(client as never)).toEqual(before);
      expect(received).toEqual([]);
    });

    test.runIf(server)("on a pool of pg, and give its connections back", async () => {
      const schema = await server!.schema();
      const place = {
        host: "127.0.0.1",
        port: server!.port,
        user: "postgres",
        database: "postgres",
      };
      const client = new Pool({ ...place, max: stores + 8 });
      onTestFinished(() => client.end());
      const received = warnings();
      const before = listeners(client);
      await openAndClose(() => postgresSessions({ client, schema, ...patient }));
      expect(listeners(client)).toEqual(before);
      await until(() => client.idleCount === client.totalCount);
      // Neither have those that the host uses from here on.
      const connection = await client.connect();
      expect(connection.listenerCount("notification")).toBe(0);
      connection.release();
      expect(received).toEqual([]);
    });

    test.runIf(server)("on an instance of postgres, nor a channel", async () => {
      const schema = await server!.schema();
      const place = {
        host: "127.0.0.1",
        port: server!.port,
        user: "postgres",
        database: "postgres",
      };
      const client = postgres({ ...place, max: 8, onnotice: () => undefined });
      onTestFinished(() => client.end({ timeout: 1 }));
      const received = warnings();
      await openAndClose(() => postgresSessions({ client, schema, ...patient }));
      // Its own table of channels, each with its listeners.
      const { channels } = client.listen as unknown as { channels: object };
      await until(() => Object.keys(channels).length === 0);
      expect(received).toEqual([]);
    });

    test.runIf(server)(
      "on an instance of postgres but one, after its connection was replaced",
      async () => {
        const schema = await server!.schema();
        const client = await server!.postgresJs();
        const channels = (): Record<string, { listeners: unknown[] }> =>
          (client.listen as unknown as { channels?: Record<string, { listeners: unknown[] }> })
            .channels ?? {};
        const listenersOf = (): number => channels()[schema]?.listeners.length ?? 0;
        for (let turn = 0; turn < 3; turn++) {
          const store = postgresSessions({ client, schema, ...patient });
          const [end] = await use(store, `t${turn}`);
          await until(async () => (await listening(schema)) !== undefined);
          const before = await listening(schema);
          await server!.sql(`SELECT pg_terminate_backend(${before})`);
          await until(async () => {
            const now = await listening(schema);
            return now !== undefined && now !== before;
          });
          await store.close();
          await end;
        }
        expect(listenersOf()).toBe(1);
      },
    );
  },
);
