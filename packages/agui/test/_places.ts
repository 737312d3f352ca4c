import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@holodeck/agui-core";
import { migrate, postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import { startRedis } from "../../sessions/test/_redis.ts";
import type { ChildStoreOptions, PlaceKind } from "./_child-store.ts";

/** A database that several processes share. */
export interface Place {
  /** A port or a path: where `openChildStore` finds it. */
  readonly at: string;
  /** One more store on it. Stores with another name share nothing with the others. */
  open(options?: PlaceOptions, name?: string): Promise<SessionStore>;
  close(): Promise<void>;
}

interface PlaceOptions extends ChildStoreOptions {
  readonly maxMessagesPerThread?: number;
}

/** Every kind of database there is. */
export const placeKinds: readonly PlaceKind[] = ["SQLite", "Redis", "PostgreSQL"];

// On a busy machine late is not away.
const patient = { commandMs: 20_000 };

const openers: Readonly<Record<PlaceKind, (suite: string) => Promise<Place | undefined>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), "agui-"));
    const path = (name: string): string => join(folder, `${name}.db`);
    return {
      at: path("agui"),
      open: async (options = {}, name = "agui") => sqliteSessions({ path: path(name), ...options }),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
  async Redis(suite) {
    const redis = await startRedis(suite);
    if (!redis) return undefined;
    let opened = 0;
    return {
      at: String(redis.port),
      async open(options = {}, name = "agui") {
        const client = opened++ % 2 === 0 ? await redis.nodeRedis() : await redis.ioRedis();
        return redisSessions({ client, prefix: name, ...patient, ...options });
      },
      close: () => redis.stop(),
    };
  },
  async PostgreSQL(suite) {
    const server = await startPostgres(suite);
    if (!server) return undefined;
    await migrate({ client: await server.pg() });
    const stores: SessionStore[] = [];
    let opened = 0;
    return {
      at: String(server.port),
      async open(options = {}, name = "agui") {
        const client = opened++ % 2 === 0 ? await server.pg() : await server.postgresJs();
        await migrate({ client, schema: name });
        const store = postgresSessions({ client, schema: name, ...patient, ...options });
        stores.push(store);
        return store;
      },
      async close() {
        // A pool does not end before the connection that listens is given back.
        await Promise.all(stores.map(async (store) => store.close()));
        await server.stop();
      },
    };
  },
};

/** Returns undefined when it cannot be had here; the suite is then reported as not run. */
export function openPlace(kind: PlaceKind, suite: string): Promise<Place | undefined> {
  return openers[kind](suite);
}
