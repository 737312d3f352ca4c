import { wrapPgPool } from "./pg.ts";
import type { PgPool } from "./pg.ts";
import { wrapPostgresJs } from "./postgres-js.ts";
import type { PostgresJs } from "./postgres-js.ts";

/** A `Pool` of `pg` 8, or an instance of `postgres` 3. */
export type PostgresClient = PgPool | PostgresJs;

/** A value that every client sends unchanged, whatever its settings. */
export type SqlValue = string | number | null;

export interface ListenerEvents {
  notify(payload: string): void;
  /** Notifications arrive from now on; what came before may be missing. */
  ready(): void;
  /** They do not arrive until `ready`. */
  lost(): void;
}

/** Notifications over a separate connection. */
export interface Listener {
  /** Gives up the connection and makes another one. */
  restart(): void;
  close(): void;
}

/** All we need of a client. */
export interface Database {
  /** The column `r` of every row. */
  query(text: string, values: readonly SqlValue[]): Promise<(string | null)[]>;
  /** Several statements as one transaction. */
  exec(text: string): Promise<void>;
  /** Called by a store that begins to use the client. Returns a function that the store calls at its end. */
  use(): () => void;
  /** Absent when the client cannot spare a connection. */
  listen?(channel: string, on: ListenerEvents): Listener;
}

/** Distinguishes the clients by their shape: several copies of each may be loaded in one process. */
export function toDatabase(client: PostgresClient): Database {
  if ("unsafe" in client) return wrapPostgresJs(client);
  // A `Client` of `pg` has the methods of a pool, and is one connection.
  const isPool = "query" in client && "connect" in client && !("connectionParameters" in client);
  if (isPool) return wrapPgPool(client);
  throw new TypeError("postgresSessions takes a `Pool` of `pg`, or an instance of `postgres`.");
}
