import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, defaultLimits, systemClock } from "@holodeck/agui-core";
import type { Clock, RunLog, SessionStore } from "@holodeck/agui-core";
import type { PruneOptions } from "../kit/prune-messages.ts";
import { openDatabase } from "./open-database.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import type { SqliteStore, SqliteStoreOptions } from "./sqlite-store.ts";

export interface SqliteSessionsOptions {
  /** The database file; made, with mode 0600, when it is absent. Its folder must exist. */
  readonly path: string | URL;
  /** How long a session lives after its last use. By default 30 minutes. */
  readonly ttlMs?: number;
  /** A session beyond this limit is refused with 429. By default there is no limit. */
  readonly maxSessions?: number;
  /** Bounds of one run's log, as in the handler's `limits`. */
  readonly runLogEvents?: number;
  readonly runLogBytes?: number;
  /** How long a log is kept after the end of its run. By default 5 minutes. */
  readonly runLogMs?: number;
  /** How long a process may be silent before its runs count as lost. By default 15 seconds. */
  readonly leaseMs?: number;
  /** History past this is pruned, oldest first. By default nothing is. */
  readonly maxMessagesPerThread?: number;
  readonly maxTokens?: number;
  /** How tokens are counted for `maxTokens`. By default a quarter of the characters. */
  readonly estimateTokens?: PruneOptions["estimate"];
  readonly clock?: Clock;
}

/**
 * Sessions and run logs in one SQLite file: they survive the process, and several processes of one
 * machine can share them. The file is opened on first use.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { sessions: sqliteSessions({ path: "./agui.db" }) });
 * ```
 */
export function sqliteSessions(options: SqliteSessionsOptions): SessionStore {
  const path = toPath(options.path);
  const settings = toSettings(options);
  let opened: SqliteStore | undefined;
  let opening: Promise<SqliteStore> | undefined;
  let isClosed = false;

  async function open(): Promise<SqliteStore> {
    const db = await openDatabase(path);
    if (isClosed) {
      db.close();
      throw closedError();
    }
    return (opened = createSqliteStore(db, settings));
  }

  function store(): Promise<SqliteStore> {
    if (isClosed) return Promise.reject(closedError());
    opening ??= open().catch((error: unknown) => {
      // The next call tries again: the disk may be back, the folder made.
      opening = undefined;
      throw error;
    });
    return opening;
  }

  const runs: RunLog = {
    open: async (key, init) => (await store()).runs.open(key, init),
    append: async (lease, entries) => (await store()).runs.append(lease, entries),
    close: async (lease, terminal, status) => (await store()).runs.close(lease, terminal, status),
    find: async (principal, runId) => (await store()).runs.find(principal, runId),
    active: async (key) => (await store()).runs.active(key),
    read: async (key, after, limit) => (await store()).runs.read(key, after, limit),
    async *follow(key, after, signal) {
      yield* (await store()).runs.follow(key, after, signal);
    },
    watchers: async (key) => (await store()).runs.watchers(key),
    send: async (key, command) => (await store()).runs.send(key, command),
    requestStop: async (key) => (await store()).runs.requestStop(key),
    // The holder of a lease has opened the database.
    commands: (lease, on) => opened?.runs.commands(lease, on) ?? (() => {}),
  };

  return {
    runs,
    blobs: {
      put: async (key, bytes, about) => (await store()).blobs.put(key, bytes, about),
      get: async (key) => (await store()).blobs.get(key),
      delete: async (key) => (await store()).blobs.delete(key),
      size: async () => (await store()).blobs.size(),
    },
    get: async (key) => (await store()).get(key),
    create: async (key, init) => (await store()).create(key, init),
    update: async (key, change, guard) => (await store()).update(key, change, guard),
    delete: async (key) => (await store()).delete(key),
    touch: async (key) => (await store()).touch(key),
    list: async (query) => (await store()).list(query),
    cleanupExpired: async () => (await store()).cleanupExpired(),
    count: async () => (await store()).count(),
    take: async (bucket, cost, rate) => (await store()).take(bucket, cost, rate),
    async close() {
      isClosed = true;
      // Failures to open were already reported to the callers.
      await opening?.catch(() => {});
      const store = opened;
      opened = undefined;
      store?.close();
    },
  };
}

function toPath(path: string | URL): string {
  if (path instanceof URL) return fileURLToPath(path);
  // SQLite would take both for a database that vanishes with the process.
  if (path === "" || path === ":memory:") {
    throw new TypeError(
      "sqliteSessions needs a file path; use memorySessions to store nothing on disk.",
    );
  }
  return resolve(path);
}

function toSettings(options: SqliteSessionsOptions): SqliteStoreOptions {
  const { estimateTokens } = options;
  return {
    ttlMs: options.ttlMs ?? 30 * 60_000,
    maxSessions: options.maxSessions ?? Number.POSITIVE_INFINITY,
    runLogEvents: options.runLogEvents ?? defaultLimits.runLogEvents,
    runLogBytes: options.runLogBytes ?? defaultLimits.runLogBytes,
    runLogMs: options.runLogMs ?? defaultLimits.runLogMs,
    leaseMs: options.leaseMs ?? 15_000,
    clock: options.clock ?? systemClock,
    prune: {
      maxMessages: options.maxMessagesPerThread,
      maxTokens: options.maxTokens,
      ...(estimateTokens ? { estimate: estimateTokens } : {}),
    },
  };
}

function closedError(): AgentError {
  return new AgentError("store-unavailable", "The session database is closed.");
}
