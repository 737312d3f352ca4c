import type { Database, SqlValue } from "./database.ts";
import { firstColumn } from "./first-column.ts";

/** What is used of an instance of `postgres`. */
export interface PostgresJs {
  readonly options: { readonly prepare?: boolean | undefined };
  unsafe(
    text: string,
    values?: SqlValue[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly unknown[]>;
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen?: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>;
}

export function wrapPostgresJs(sql: PostgresJs): Database {
  // As the host wants it: a pooler may not know prepared statements.
  const prepare = sql.options.prepare !== false;
  return {
    async query(text, values) {
      const rows = await sql.unsafe(text, [...values], { prepare });
      return rows.map(firstColumn);
    },
    exec: async (text) => void (await sql.unsafe(text)),
    // It has no events: every failure is a rejection.
    use: () => () => undefined,
    listen(channel, on) {
      let isClosed = false;
      // The client has one connection for all channels, connects again by itself and calls `ready` each time.
      const listening = Promise.resolve(
        sql.listen(
          channel,
          (payload) => isClosed || on.notify(payload),
          () => isClosed || on.ready(),
        ),
      );
      listening.catch(() => undefined);
      return {
        restart: () => undefined,
        close() {
          isClosed = true;
          listening.then(({ unlisten }) => unlisten()).catch(() => undefined);
        },
      };
    },
  };
}
