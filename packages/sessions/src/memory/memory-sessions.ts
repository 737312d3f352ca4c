import { defaultLimits, systemClock } from "@holodeck/agui-core";
import { assertOptions, dateOf, describeValue } from "@holodeck/agui-core/internal";
import type { Clock, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { createBuckets } from "../kit/buckets.ts";
import { createMemoryBlobs } from "./memory-blobs.ts";
import { createMemoryLog, threadId } from "./memory-log.ts";
import { RecentSessions } from "./memory-recent.ts";
import type { Place } from "./memory-recent.ts";
import { createMemoryRoom } from "./memory-room.ts";
import type { PruneOptions } from "../kit/prune-messages.ts";
import { compareByLastUse, fromCursor, toCursor, toListed } from "../kit/session-list.ts";
import { changeSession, newSession } from "../kit/session-record.ts";
import { sessionExists, sessionNotFound } from "../kit/store-errors.ts";

export interface MemorySessionsOptions {
  /** How long a session lives after its last use. By default 30 minutes. */
  readonly ttlMs?: number;
  /**
   * One session too many is refused with 429. By default there are 10,000, and then the one makes room that was not
   * used for longest, of the principal that has most.
   */
  readonly maxSessions?: number;
  /** `"lru"`: one session too many makes room in the same way where `maxSessions` is set. */
  readonly evict?: "lru";
  /** What all sessions and logs may take. By default 256 MiB; then finished logs go, and unused sessions. */
  readonly memoryBytes?: number;
  /** Bounds of the run logs, as in the handler's `limits`. */
  readonly runLogEvents?: number;
  readonly runLogBytes?: number;
  readonly runLogMs?: number;
  readonly logBytes?: number;
  /** History past this is pruned, oldest first. By default nothing is. */
  readonly maxMessagesPerThread?: number;
  readonly maxTokens?: number;
  /** How tokens are counted for `maxTokens`. By default a quarter of the characters. */
  readonly estimateTokens?: PruneOptions["estimate"];
  readonly clock?: Clock;
}

const sweepMs = 60_000;

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
  const { ttlMs = 30 * 60_000, clock = systemClock } = options;
  const {
    maxSessions = defaultLimits.maxSessions,
    memoryBytes = defaultLimits.memoryBytes,
    runLogEvents = defaultLimits.runLogEvents,
    runLogBytes = defaultLimits.runLogBytes,
    runLogMs = defaultLimits.runLogMs,
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
  const { maxMessagesPerThread: maxMessages, maxTokens, estimateTokens: estimate } = options;
  const sessions = new RecentSessions();
  const buckets = createBuckets();
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
  let sweep: unknown;

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
    sweepLater();
    return session;
  }

  function sweepLater(): void {
    sweep ??= clock.setTimeout(sweepNow, sweepMs);
  }

  function sweepNow(): void {
    sweep = undefined;
    cleanupExpired();
    const hasBlobs = blobs.sweep();
    if (hasBlobs || sessions.size > 0) sweepLater();
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
        maxMessages,
        maxTokens,
        estimate,
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
    list({ principal, agentId, limit, cursor }) {
      const from = cursor === undefined ? undefined : fromCursor(cursor);
      const rest = sessions
        .of(principal)
        .filter((place) => !isExpired(place))
        .map(({ session }) => session)
        .filter((one) => !agentId || one.agentId === agentId)
        .filter((one) => !from || compareByLastUse(one, from) > 0)
        .sort(compareByLastUse);
      const items = rest.slice(0, limit);
      const next = rest.length > limit ? toCursor(items.at(-1)!) : undefined;
      return { items: items.map(toListed), next };
    },
    cleanupExpired,
    count() {
      cleanupExpired();
      return sessions.size;
    },
    take: (bucket, cost, { tokens, perMs }) =>
      buckets.take(bucket, cost, { tokens, perMs, now: clock.now() }),
    close() {
      if (sweep !== undefined) clock.clearTimeout(sweep);
      sweep = undefined;
      sessions.clear();
      blobs.clear();
      buckets.clear();
      runs.clear();
    },
  };
}
