import { defaultLimits } from "@holodeck/agui-core";
import { assertOptions, dateOf, describeValue } from "@holodeck/agui-core/internal";
import type { Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { createBuckets } from "../kit/storage/buckets.ts";
import { createMemoryBlobs } from "./memory-blobs.ts";
import { createMemoryLog, threadId } from "./memory-log.ts";
import { RecentSessions } from "./memory-recent.ts";
import type { Place } from "./memory-recent.ts";
import { createMemoryRoom } from "./memory-room.ts";
import { listSessions } from "../kit/sessions/session-list.ts";
import { changeSession, newSession } from "../kit/sessions/session-record.ts";
import { sessionExists, sessionNotFound } from "../kit/storage/store-errors.ts";
import { toStoreSettings } from "../kit/storage/store-settings.ts";
import type { StoreOptions } from "../kit/storage/store-settings.ts";
import { createSweeps } from "../kit/storage/sweeps.ts";

export interface MemorySessionsOptions extends Omit<StoreOptions, "leaseMs"> {
  /**
   * One session too many is refused with 429. By default there are 10,000, and then the one makes room that was not
   * used for longest, of the principal that has most.
   */
  readonly maxSessions?: number;
  /** `"lru"`: one session too many makes room in the same way where `maxSessions` is set. */
  readonly evict?: "lru";
  /** What all sessions and logs may take. By default 256 MiB; then finished logs go, and unused sessions. */
  readonly memoryBytes?: number;
  /** What the logs of all runs may take of it, as in the handler's `limits`. */
  readonly logBytes?: number;
}

// Typed by the options, so that a new one cannot be forgotten here.
const known: Readonly<Record<keyof MemorySessionsOptions, true>> = {
  ttlMs: true,
  maxSessions: true,
  evict: true,
  memoryBytes: true,
  runLogEvents: true,
  runLogBytes: true,
  runLogMs: true,
  logBytes: true,
  maxMessagesPerThread: true,
  maxTokens: true,
  estimateTokens: true,
  clock: true,
};

/**
 * Sessions and run logs in the memory of this process: the default store.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { sessions: memorySessions({ ttlMs: 60 * 60_000 }) });
 * ```
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  assertOptions("memorySessions", options, Object.keys(known));
  const { ttlMs, runLogEvents, runLogBytes, runLogMs, prune, clock } = toStoreSettings(options);
  const {
    maxSessions = defaultLimits.maxSessions,
    memoryBytes = defaultLimits.memoryBytes,
    logBytes = defaultLimits.logBytes,
  } = options;
  const bounds = { ttlMs, maxSessions, memoryBytes, runLogEvents, runLogBytes, runLogMs, logBytes };
  for (const [name, value] of Object.entries(bounds)) {
    if (typeof value === "number" && value > 0) continue;
    throw new TypeError(
      `${name} of memorySessions must be a number above 0, not ${describeValue(value)}.`,
    );
  }
  const forLogs = { bytes: Math.min(logBytes, memoryBytes) };
  const runs = createMemoryLog({ runLogEvents, runLogBytes, runLogMs, room: forLogs, clock });
  const sessions = new RecentSessions();
  const buckets = createBuckets();
  const sweeps = createSweeps(clock, sweep);
  const blobs = createMemoryBlobs({ clock, onKept: sweepLater });
  const unset = options.maxSessions === undefined ? "unlimited" : "never";
  const evicts = options.evict === "lru" ? "always" : unset;
  const room = createMemoryRoom({
    sessions,
    runs,
    forLogs,
    logBytes,
    memoryBytes,
    maxSessions,
    evicts,
    remove,
    cleanupExpired,
  });
  let isSwept = false;

  function live(key: ThreadKey): Session | undefined {
    const place = sessions.find(threadId(key));
    if (!place || !isExpired(place)) return place?.session;
    remove(place.session);
    return undefined;
  }

  function isExpired({ session, usedAt }: Place): boolean {
    return !runs.isActive(session) && clock.now() - usedAt >= ttlMs;
  }

  function remove(key: ThreadKey): boolean {
    runs.deleteThread(key);
    return sessions.delete(threadId(key));
  }

  function cleanupExpired(): number {
    let removed = 0;
    for (const place of sessions.unusedSince(clock.now() - ttlMs)) {
      if (isExpired(place) && remove(place.session)) removed++;
    }
    return removed;
  }

  function put(session: Session): Session {
    sessions.put(threadId(session), session, clock.now());
    room.changed();
    if (!isSwept) sweepLater();
    return session;
  }

  function sweepLater(): void {
    isSwept = true;
    sweeps.arm();
  }

  function sweep(): "later" | "done" {
    cleanupExpired();
    const hasBlobs = blobs.sweep();
    isSwept = hasBlobs || sessions.size > 0;
    return isSwept ? "later" : "done";
  }

  return {
    runs,
    blobs,
    get: live,
    create(key, init) {
      if (live(key)) throw sessionExists(key);
      const session = newSession(key, init, dateOf(clock));
      room.forSession(session, init.maxSessions);
      return put(session);
    },
    update(key, change, condition) {
      if (condition?.lease) runs.assertHeld(condition.lease);
      const session = live(key);
      if (!session) throw sessionNotFound(key);
      const changed = changeSession(session, change, {
        ...prune,
        now: dateOf(clock),
        ifVersion: condition?.ifVersion,
      });
      // What a run has made is stored in any case: it is in memory already, and bounded by itself.
      const mayRefuse = condition?.lease === undefined || change.run !== undefined;
      room.forChange(threadId(key), changed, mayRefuse);
      return put(changed);
    },
    delete(key) {
      const isThere = live(key) !== undefined;
      // Also the runs of a thread that has no session.
      remove(key);
      return isThere;
    },
    touch(key) {
      const session = live(key);
      if (session) put({ ...session, lastActivity: Math.max(session.lastActivity, dateOf(clock)) });
    },
    list({ principal, ...query }) {
      const places = sessions.of(principal).filter((place) => !isExpired(place));
      return listSessions(
        places.map(({ session }) => session),
        query,
      );
    },
    cleanupExpired,
    count() {
      cleanupExpired();
      return sessions.size;
    },
    take: (bucket, cost, { tokens, perMs }) =>
      buckets.take(bucket, cost, { tokens, perMs, now: clock.now() }),
    close() {
      sweeps.stop();
      sessions.clear();
      blobs.clear();
      buckets.clear();
      runs.clear();
    },
  };
}
