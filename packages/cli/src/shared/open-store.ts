import { resolve } from "node:path";
import { memorySessions } from "@holodeck/agui";
import type { Limits, SessionStore } from "@holodeck/agui";
import { CliError, usageError } from "./cli-error.ts";
import { openPostgres } from "./open-postgres.ts";
import { openRedis } from "./open-redis.ts";
import { reasonOf } from "./reason-of.ts";
import { serverOf, storeForms } from "./server-url.ts";

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

/** `memory`, `sqlite:PATH`, `redis://…` or `postgres://…`. */
export async function openStore(where: string, options: OpenStoreOptions): Promise<OpenStore> {
  if (where === "memory") return openMemory(options);
  if (where.startsWith("sqlite:")) return openSqlite(where.slice("sqlite:".length), options);
  const server = serverOf(where);
  const given = { bounds: bounds(options), isLazy: options.isLazy ?? false };
  if (server) return server === "Redis" ? openRedis(where, given) : openPostgres(where, given);
  throw usageError(
    `"${where}" is not a session store; use ${storeForms}, like --sessions sqlite:./threads.db.`,
  );
}

export type StoreBounds = Partial<
  Pick<
    Limits,
    "maxSessions" | "runLogEvents" | "runLogBytes" | "runLogMs" | "logBytes" | "memoryBytes"
  > & {
    maxMessagesPerThread: number;
  }
>;

function bounds({ limits, maxMessages }: OpenStoreOptions): StoreBounds {
  const { maxSessions, runLogEvents, runLogBytes, runLogMs } = limits;
  return defined({
    maxSessions,
    runLogEvents,
    runLogBytes,
    runLogMs,
    maxMessagesPerThread: maxMessages,
  });
}

function defined(values: Readonly<Record<string, number | undefined>>): StoreBounds {
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
