import { systemClock } from "@holodeck/agui-core";
import type { Clock, Session, SessionStore } from "@holodeck/agui-core";
import {
  changeSession,
  dateOf,
  listSessions,
  newSession,
  sessionExists,
  sessionNotFound,
  takeTokens,
  tooManySessions,
} from "@holodeck/agui-sessions/kit";
import type { Bucket } from "@holodeck/agui-sessions/kit";
import { answered } from "./answered.ts";
import type { KeyValue } from "./key-value.ts";
import { createKvLog } from "./kv-log.ts";
import { createThreads } from "./threads.ts";
import type { ThreadDocument } from "./threads.ts";

export interface KvSessionsOptions {
  readonly kv: KeyValue;
  readonly clock?: Clock;
  /** How long a session lives after its last use. */
  readonly ttlMs?: number;
  readonly maxSessions?: number;
  readonly maxMessagesPerThread?: number;
  readonly maxTokens?: number;
  readonly leaseMs?: number;
  readonly runLogMs?: number;
  readonly runLogEvents?: number;
  readonly runLogBytes?: number;
  /** How long one call to the database may take. */
  readonly callMs?: number;
}

/** Sessions and run logs in any database that can compare and set. */
export function kvSessions(options: KvSessionsOptions): SessionStore {
  const {
    clock = systemClock,
    callMs = 5_000,
    ttlMs = 30 * 60_000,
    maxSessions = 10_000,
  } = options;
  const { leaseMs = 30_000, runLogMs = 10 * 60_000 } = options;
  const { runLogEvents = 10_000, runLogBytes = 8 * 1024 * 1024 } = options;
  const { maxMessagesPerThread: maxMessages, maxTokens } = options;
  const kv = answered(options.kv, { clock, callMs });
  const threads = createThreads(kv);
  const runs = createKvLog(kv, threads, { clock, leaseMs, runLogMs, runLogEvents, runLogBytes });

  /** Brings a document up to date: dead owners, old logs, and a session that was not used for too long. */
  function settle(document: ThreadDocument): void {
    runs.settle(document);
    const { session, runs: all } = document;
    if (!session || all.at(-1)?.record.status === "running") return;
    if (dateOf(clock) - session.lastActivity < ttlMs) return;
    document.session = undefined;
    document.runs = [];
  }

  async function all(principal?: string): Promise<Session[]> {
    const documents = await threads.list(principal);
    for (const document of documents) settle(document);
    return documents.flatMap(({ session }) => (session ? [session] : []));
  }

  async function cleanupExpired(): Promise<number> {
    let removed = 0;
    for (const { session } of await threads.list()) {
      if (!session) continue;
      removed += await threads.change(session, (document) => {
        settle(document);
        return document.session ? 0 : 1;
      });
    }
    return removed;
  }

  return {
    runs,
    get: (key) =>
      threads.change(key, (document) => {
        settle(document);
        return document.session;
      }),
    async create(key, init) {
      const limit = Math.min(maxSessions, init.maxSessions ?? Infinity);
      if ((await all()).length >= limit) {
        throw tooManySessions(limit);
      }
      return threads.change(key, (document) => {
        settle(document);
        if (document.session) {
          throw sessionExists(key);
        }
        return (document.session = newSession(key, init, dateOf(clock)));
      });
    },
    update: (key, changes, { ifVersion, lease } = {}) =>
      threads.change(key, (document) => {
        settle(document);
        // In the same write as the change: an owner that came back too late stores nothing.
        if (lease) runs.assertHeld(document, lease);
        if (!document.session) {
          throw sessionNotFound(key);
        }
        const bounds = { maxMessages, maxTokens, now: dateOf(clock), ifVersion };
        return (document.session = changeSession(document.session, changes, bounds));
      }),
    delete: (key) =>
      threads.change(key, (document) => {
        settle(document);
        const isThere = document.session !== undefined;
        document.session = undefined;
        document.runs = [];
        return isThere;
      }),
    async touch(key) {
      await threads.change(key, (document) => {
        settle(document);
        if (!document.session) return;
        const lastActivity = Math.max(document.session.lastActivity, dateOf(clock));
        document.session = { ...document.session, lastActivity };
      });
    },
    list: async ({ principal, ...query }) => listSessions(await all(principal), query),
    cleanupExpired,
    count: async () => (await all()).length,
    async take(bucket, cost, { tokens, perMs }) {
      const name = `bucket/${encodeURIComponent(bucket)}`;
      for (;;) {
        const stored = await kv.get<Bucket>(name);
        const taken = takeTokens(stored?.value, cost, { tokens, perMs, now: dateOf(clock) });
        if (await kv.set(name, taken.bucket, stored?.version)) return taken.wait;
      }
    },
    close: () => runs.dispose(),
  };
}
