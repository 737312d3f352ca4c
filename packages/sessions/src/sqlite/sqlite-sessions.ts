import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "@holodeck/agui-core";
import type { RunLog, SessionStore } from "@holodeck/agui-core";
import { toStoreSettings } from "../kit/storage/store-settings.ts";
import type { StoreOptions } from "../kit/storage/store-settings.ts";
import { openDatabase } from "./open-database.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import type { SqliteStore } from "./sqlite-store.ts";

export interface SqliteSessionsOptions extends StoreOptions {
  /** The database file; made, with mode 0600, when it is absent. Its folder must exist. */
  readonly path: string | URL;
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
  const settings = toStoreSettings(options);
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

function closedError(): AgentError {
  return new AgentError("store-unavailable", "The session database is closed.");
}
