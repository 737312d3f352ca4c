import { systemClock } from "@holodeck/agui-core";
import { createSharing } from "../../kit/storage/shared-client.ts";
import type { Database, Listener, ListenerEvents, SqlValue } from "./database.ts";
import { firstColumn } from "./first-column.ts";

/** What is used of a connection of a pool of `pg`. */
export interface PgPoolClient {
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: "error" | "end", listener: () => void): unknown;
  release(destroy?: boolean): void;
}

/** What is used of a pool of `pg`. */
export interface PgPool {
  readonly options?: { readonly max?: number | undefined };
  query(text: string, values?: SqlValue[]): Promise<{ rows: unknown[] }>;
  connect(): Promise<PgPoolClient>;
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
}

const longestPauseMs = 5_000;
// Behind a pooler that passes on no notification, another connection every minute is enough.
const longestSilenceMs = 60_000;

export function wrapPgPool(pool: PgPool): Database {
  return {
    async query(text, values) {
      const { rows } = await pool.query(text, [...values]);
      return rows.map(firstColumn);
    },
    // Without values it is one message, which the server runs as one transaction.
    exec: async (text) => void (await pool.query(text)),
    use: () => shareErrors(pool).release,
    // A pool of one would have no connection left.
    ...(pool.options?.max === 1
      ? {}
      : { listen: (channel, on) => listenOnPool(pool, channel, on) }),
  };
}

const ignore = (): void => undefined;

/**
 * An idle connection that breaks is an event of the pool, which replaces it. Without a listener the event would end the
 * process.
 */
const shareErrors = createSharing((pool: PgPool) => {
  pool.on?.("error", ignore);
  return { value: undefined, detach: () => void pool.off?.("error", ignore) };
});

/** One connection of the pool for as long as the store is open, and another one when it breaks. */
function listenOnPool(pool: PgPool, channel: string, on: ListenerEvents): Listener {
  let current: PgPoolClient | undefined;
  let isClosed = false;
  let isSilent = false;
  let failures = 0;
  let timer: unknown;

  async function connect(): Promise<void> {
    let client: PgPoolClient | undefined;
    try {
      client = await pool.connect();
      const mine = client;
      mine.on("error", () => drop(mine));
      mine.on("end", () => drop(mine));
      mine.on("notification", ({ payload = "" }) => {
        if (current !== mine) return;
        failures = 0;
        isSilent = false;
        on.notify(payload);
      });
      current = mine;
      await mine.query(`LISTEN "${channel}"`);
      if (isClosed) return drop(mine);
      if (current !== mine) return;
      on.ready();
    } catch {
      if (client) drop(client);
      else again();
    }
  }

  function drop(client: PgPoolClient): void {
    if (current !== client) return;
    current = undefined;
    // Destroyed: another user of the pool must not receive our notifications.
    client.release(true);
    on.lost();
    again();
  }

  function again(): void {
    if (isClosed) return;
    systemClock.clearTimeout(timer);
    const longest = isSilent ? longestSilenceMs : longestPauseMs;
    const pauseMs = Math.min(longest, 50 * 2 ** failures++);
    timer = systemClock.setTimeout(() => void connect(), pauseMs);
  }

  void connect();
  return {
    restart() {
      isSilent = true;
      if (current) drop(current);
    },
    close() {
      isClosed = true;
      systemClock.clearTimeout(timer);
      if (current) drop(current);
    },
  };
}
