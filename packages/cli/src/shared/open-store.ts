import { resolve } from "node:path";
import { memorySessions } from "@holodeck/agui";
import type { Limits, SessionStore } from "@holodeck/agui";
import { CliError, usageError } from "./cli-error.ts";
import { reasonOf } from "./reason-of.ts";

/** Where threads are kept. */
export interface OpenStore {
  readonly sessions: SessionStore;
  /** For people; without a password. */
  readonly name: string;
  /** Closes the store and its connection. */
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly limits: Partial<Limits>;
  readonly maxMessages?: number | undefined;
  /** Where the path of a database begins. */
  readonly cwd: string;
  /** A store that is not reachable is not a failure yet: it may be reachable when it is used. */
  readonly isLazy?: boolean;
}

/** `memory`, `sqlite:PATH` or `redis://…`. */
export async function openStore(where: string, options: OpenStoreOptions): Promise<OpenStore> {
  if (where === "memory") return openMemory(options);
  if (where.startsWith("sqlite:")) return openSqlite(where.slice("sqlite:".length), options);
  if (/^rediss?:\/\//.test(where)) return openRedis(where, options);
  throw usageError(
    `"${where}" is not a session store; use memory, sqlite:PATH or redis://HOST:PORT, like --sessions sqlite:./threads.db.`,
  );
}

type Bounds = Partial<
  Pick<
    Limits,
    "maxSessions" | "runLogEvents" | "runLogBytes" | "runLogMs" | "logBytes" | "memoryBytes"
  > & {
    maxMessagesPerThread: number;
  }
>;

function bounds({ limits, maxMessages }: OpenStoreOptions): Bounds {
  const { maxSessions, runLogEvents, runLogBytes, runLogMs } = limits;
  return defined({
    maxSessions,
    runLogEvents,
    runLogBytes,
    runLogMs,
    maxMessagesPerThread: maxMessages,
  });
}

function defined(values: Readonly<Record<string, number | undefined>>): Bounds {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function openMemory(options: OpenStoreOptions): OpenStore {
  const { logBytes, memoryBytes } = options.limits;
  const sessions = memorySessions({ ...bounds(options), ...defined({ logBytes, memoryBytes }) });
  return { sessions, name: "memory", close: async () => sessions.close() };
}

async function openSqlite(path: string, options: OpenStoreOptions): Promise<OpenStore> {
  if (path === "") {
    throw usageError("sqlite: needs the path of a file, like --sessions sqlite:./threads.db.");
  }
  const { sqliteSessions } = await import("@holodeck/agui-sessions/sqlite");
  const file = resolve(options.cwd, path);
  const sessions = sqliteSessions({ ...bounds(options), path: file });
  try {
    // Opened now: a file that cannot be used should be reported before the first request.
    if (!options.isLazy) await sessions.count?.();
  } catch (error) {
    throw new CliError(
      `The database ${path} cannot be used: ${reasonOf((error as Error).cause ?? error)}`,
      { cause: error },
    );
  }
  return { sessions, name: `sqlite:${path}`, close: async () => sessions.close() };
}

async function openRedis(url: string, options: OpenStoreOptions): Promise<OpenStore> {
  if (!URL.canParse(url)) {
    throw usageError(`"${url}" is not a Redis URL, like redis://127.0.0.1:6379.`);
  }
  const name = withoutSecrets(url);
  const [{ createClient }, { redisSessions }] = await Promise.all([
    import("redis"),
    import("@holodeck/agui-sessions/redis"),
  ]);
  const { isLazy = false } = options;
  let mayRetry = isLazy;
  const client = createClient({
    url,
    socket: {
      connectTimeout: 3_000,
      // A server that is not reachable at the start is an error; later it may come back.
      reconnectStrategy: (retries) => mayRetry && Math.min(retries * 100, 2_000),
    },
  });
  // Commands report errors to their callers; without a listener, an error would end the process.
  client.on("error", () => undefined);
  const connected = client.connect();
  try {
    if (isLazy) connected.catch(() => undefined);
    else await connected.then(() => client.ping());
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw new CliError(`Redis at ${name} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
  mayRetry = true;
  const sessions = redisSessions({ ...bounds(options), client });
  return {
    sessions,
    name,
    async close() {
      await sessions.close();
      if (client.isOpen) client.destroy();
    },
  };
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
