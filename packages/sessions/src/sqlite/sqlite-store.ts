import { isAgentError } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { SessionStore, ThreadKey } from "@holodeck/agui-core";
import { sessionExists, tooManySessions } from "../kit/storage/store-errors.ts";
import type { StoreSettings } from "../kit/storage/store-settings.ts";
import { createSweeps } from "../kit/storage/sweeps.ts";
import { takeTokens } from "../kit/storage/token-bucket.ts";
import { createSqliteBlobs } from "./sqlite-blobs.ts";
import type { SqliteBlobs } from "./sqlite-blobs.ts";
import type { Database } from "./database.ts";
import { toKeyText } from "../kit/storage/key-text.ts";
import { createSessionRows } from "./session-rows.ts";
import type { Expiry } from "./session-rows.ts";
import { createSqliteLog } from "./sqlite-log.ts";

export interface SqliteStore extends SessionStore {
  readonly blobs: SqliteBlobs;
  count(): number;
  close(): void;
}

const sweepLimit = 100;

/** A store on an open database. */
export function createSqliteStore(db: Database, options: StoreSettings): SqliteStore {
  const { ttlMs, maxSessions, clock, prune } = options;
  const sessions = createSessionRows(db);
  const runs = createSqliteLog(db, options);
  const blobs = createSqliteBlobs(db, clock);
  const sweeps = createSweeps(clock, sweep);
  sweeps.arm();

  const expiry = (): Expiry => {
    const now = dateOf(clock);
    return { now, leaseNow: runs.leaseNow(), deadline: now - ttlMs };
  };

  function remove(keys: readonly ThreadKey[]): void {
    const fences = db.write(() =>
      keys.flatMap((key) => {
        sessions.remove(key);
        return runs.deleteThread(key);
      }),
    );
    runs.forget(fences);
  }

  function removeExpired(): number {
    const keys = db.read(() => sessions.expired(expiry(), sweepLimit));
    if (keys.length > 0) remove(keys);
    return keys.length;
  }

  function cleanupExpired(): number {
    let removed = 0;
    for (;;) {
      const count = removeExpired();
      removed += count;
      if (count < sweepLimit) return removed;
    }
  }

  function sweep(): "more" | "later" {
    const removed = removeExpired();
    const hasBlobs = blobs.sweep();
    const hasMore = runs.sweep() || hasBlobs || removed === sweepLimit;
    db.write(() => db.sql("DELETE FROM buckets WHERE full_at <= ?").run(dateOf(clock)));
    return hasMore ? "more" : "later";
  }

  return {
    runs,
    blobs,
    get: (key) => db.read(() => sessions.get(key, expiry())),
    create(key, init) {
      const limit = Math.min(maxSessions, init.maxSessions ?? Infinity);
      const isFull = (): boolean => Number.isFinite(limit) && sessions.count() >= limit;
      if (db.read(isFull)) cleanupExpired();
      const gone: number[] = [];
      const session = db.write(() => {
        if (sessions.has(key, expiry())) {
          throw sessionExists(key);
        }
        // An expired one of this name that was not swept yet.
        if (sessions.remove(key)) gone.push(...runs.deleteThread(key));
        if (isFull()) {
          throw tooManySessions(limit);
        }
        return sessions.insert(key, init, dateOf(clock));
      });
      runs.forget(gone);
      return session;
    },
    update(key, change, { ifVersion, lease } = {}) {
      try {
        return db.write(() => {
          if (lease) runs.assertHeld(lease);
          return sessions.update(key, change, { ...prune, ...expiry(), ifVersion });
        });
      } catch (error) {
        if (lease && isAgentError(error) && error.code === "run-lost") runs.forget([lease.fence]);
        throw error;
      }
    },
    delete(key) {
      const isThere = db.read(() => sessions.has(key, expiry()));
      remove([key]);
      return isThere;
    },
    touch: (key) => db.write(() => sessions.touch(key, expiry())),
    list: (query) => db.read(() => sessions.list(query, expiry())),
    cleanupExpired,
    count: () => db.read(() => sessions.countLive(expiry())),
    take: (name, cost, { tokens, perMs }) =>
      db.write(() => {
        const found = db
          .sql("SELECT tokens, at FROM buckets WHERE name = ?")
          .get(toKeyText(name)) as { tokens: number; at: number } | undefined;
        const { wait, bucket } = takeTokens(found, cost, { tokens, perMs, now: dateOf(clock) });
        db.sql(
          `INSERT INTO buckets (name, tokens, at, full_at) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET tokens = excluded.tokens, at = excluded.at,
             full_at = excluded.full_at`,
        ).run(toKeyText(name), bucket.tokens, bucket.at, bucket.fullAt);
        return wait;
      }),
    close() {
      sweeps.stop();
      blobs.close();
      try {
        runs.dispose();
      } finally {
        db.close();
      }
    },
  };
}
