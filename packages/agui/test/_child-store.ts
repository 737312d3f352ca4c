import type { SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { openPool } from "../../sessions/test/_postgres-pool.ts";
import { hostClients } from "../../sessions/test/_redis-connect.ts";

/** A database that several processes share. */
export type PlaceKind = "SQLite" | "Redis" | "PostgreSQL";

export interface ChildStoreOptions {
  readonly leaseMs?: number;
  readonly runLogMs?: number;
  readonly commandMs?: number;
}

/** The store of a server process: `memory`, or on a database that is at a port or a path. */
export async function openChildStore(
  kind: string,
  at: string,
  options: ChildStoreOptions = {},
): Promise<SessionStore> {
  // On a busy machine late is not away.
  const patient = { commandMs: 10_000, ...options };
  if (kind === "memory") return memorySessions();
  if (kind === "SQLite") return sqliteSessions({ path: at, ...options });
  if (kind === "PostgreSQL") return postgresSessions({ client: openPool(Number(at)), ...patient });
  const client = await hostClients[kind === "ioredis" ? "ioredis" : "node-redis"](Number(at));
  return redisSessions({ client, ...patient });
}
