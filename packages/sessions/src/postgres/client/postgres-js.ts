import type { Database, ListenerEvents, SqlValue } from "./database.ts";
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
    listen: (channel, on) => ({ restart: () => undefined, close: subscribe(sql, channel, on) }),
  };
}

/** A channel that a client listens on, and the stores that it is for. */
interface Channel {
  readonly stores: Set<ListenerEvents>;
  readonly listening: Promise<{ unlisten(): Promise<void> }>;
  /** How often the client has begun to listen: again on each new connection. */
  begun: number;
}

const channelsOf = new WeakMap<PostgresJs, Map<string, Channel>>();

/** Listens on a channel once, however many stores use it. Returns a function that unsubscribes. */
function subscribe(sql: PostgresJs, name: string, on: ListenerEvents): () => void {
  const channels = channelsOf.get(sql) ?? new Map<string, Channel>();
  channelsOf.set(sql, channels);
  const channel = channels.get(name) ?? listenOn(sql, name);
  channels.set(name, channel);
  channel.stores.add(on);
  if (channel.begun > 0) queueMicrotask(() => channel.stores.has(on) && on.ready());
  return () => {
    channel.stores.delete(on);
    if (channel.stores.size === 0) channel.listening.then(leave).catch(() => undefined);
  };

  // On a connection that replaced another one the client does not find what it listens with: then the channel stays, for
  // the next store.
  async function leave({ unlisten }: { unlisten(): Promise<void> }): Promise<void> {
    if (channel.stores.size > 0 || channel.begun > 1) return;
    channels.delete(name);
    await unlisten();
  }
}

// The client has one connection for all channels, connects again by itself and calls back each time.
function listenOn(sql: PostgresJs, name: string): Channel {
  const stores = new Set<ListenerEvents>();
  const onNotify = (payload: string): void => stores.forEach((store) => store.notify(payload));
  const onListen = (): void => {
    channel.begun++;
    for (const store of stores) store.ready();
  };
  const listening = Promise.resolve(sql.listen(name, onNotify, onListen));
  listening.catch(() => undefined);
  const channel: Channel = { stores, listening, begun: 0 };
  return channel;
}
