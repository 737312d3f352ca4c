import { AgentError, defaultLimits, systemClock } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Clock, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { createMemoryBlobs } from "./memory-blobs.ts";
import { createMemoryLog, threadId } from "./memory-log.ts";
import { RecentSessions } from "./memory-recent.ts";
import type { PruneOptions } from "../kit/prune-messages.ts";
import { compareByLastUse, fromCursor, toCursor, toListed } from "../kit/session-list.ts";
import { changeSession, newSession } from "../kit/session-record.ts";
import { takeTokens } from "../kit/token-bucket.ts";
import type { Bucket } from "../kit/token-bucket.ts";

export interface MemorySessionsOptions {
  /** How long a session lives after its last use. By default 30 minutes. */
  readonly ttlMs?: number;
  /** By default 1000. */
  readonly maxSessions?: number;
  /**
   * What makes room for one session too many: `"lru"` removes the one that was not used for longest and
   * has no run in flight. By default nothing does, and it is refused with 429.
   */
  readonly evict?: "lru";
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

// So many buckets are remembered before the full ones are thrown out.
const bucketSweep = 10_000;

const sweepMs = 60_000;

// Typed by the options, so that a new one cannot be forgotten here.
const known: Readonly<Record<keyof MemorySessionsOptions, true>> = {
  ttlMs: true,
  maxSessions: true,
  evict: true,
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
  const { ttlMs = 30 * 60_000, maxSessions = defaultLimits.maxSessions } = options;
  const { clock = systemClock } = options;
  const {
    runLogEvents = defaultLimits.runLogEvents,
    runLogBytes = defaultLimits.runLogBytes,
    runLogMs = defaultLimits.runLogMs,
    logBytes = defaultLimits.logBytes,
  } = options;
  const bounds = { ttlMs, maxSessions, runLogEvents, runLogBytes, runLogMs, logBytes };
  for (const [name, value] of Object.entries(bounds)) {
    if (typeof value === "number" && value > 0) continue;
    throw new TypeError(
      `${name} of memorySessions must be a number above 0, not ${describeValue(value)}.`,
    );
  }
  const runs = createMemoryLog({ runLogEvents, runLogBytes, runLogMs, logBytes, clock });
  const { maxMessagesPerThread: maxMessages, maxTokens, estimateTokens: estimate } = options;
  const sessions = new RecentSessions();
  const buckets = new Map<string, Bucket>();
  const blobs = createMemoryBlobs({ clock, onKept: sweepLater });
  let sweep: unknown;

  function live(key: ThreadKey): Session | undefined {
    const session = sessions.get(threadId(key));
    if (!session || !isExpired(session)) return session;
    remove(session);
    return undefined;
  }

  function isExpired(session: Session): boolean {
    return !runs.isActive(session) && clock.now() - session.lastActivity >= ttlMs;
  }

  function remove(key: ThreadKey): boolean {
    runs.deleteThread(key);
    return sessions.delete(threadId(key));
  }

  function cleanupExpired(): number {
    let removed = 0;
    for (const session of sessions.values()) {
      if (clock.now() - session.lastActivity < ttlMs) break;
      if (isExpired(session) && remove(session)) removed++;
    }
    return removed;
  }

  function makeRoom(asked = Number.POSITIVE_INFINITY): void {
    const limit = Math.min(maxSessions, asked);
    if (sessions.size < limit || cleanupExpired() > 0) return;
    if (options.evict === "lru") {
      for (const session of sessions.values()) {
        if (!runs.isActive(session)) return void remove(session);
      }
    }
    throw new AgentError("capacity-exceeded", `The store is at its limit of ${limit} sessions.`, {
      retryAfter: 5,
    });
  }

  function put(session: Session): Session {
    sessions.put(threadId(session), session);
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
      if (live(key)) {
        throw new AgentError("run-exists", `Session "${key.threadId}" already exists.`);
      }
      makeRoom(init.maxSessions);
      return put(newSession(key, init, clock.now()));
    },
    update(key, change, condition) {
      if (condition?.lease) runs.assertHeld(condition.lease);
      const session = live(key);
      if (!session) {
        throw new AgentError("session-not-found", `There is no session "${key.threadId}".`);
      }
      return put(
        changeSession(session, change, {
          maxMessages,
          maxTokens,
          estimate,
          now: clock.now(),
          ifVersion: condition?.ifVersion,
        }),
      );
    },
    delete: (key) => live(key) !== undefined && remove(key),
    touch(key) {
      const session = live(key);
      if (session) put({ ...session, lastActivity: Math.max(session.lastActivity, clock.now()) });
    },
    list({ principal, agentId, limit, cursor }) {
      const from = cursor === undefined ? undefined : fromCursor(cursor);
      const rest = [...sessions.values()]
        .filter((one) => one.principal === principal && (!agentId || one.agentId === agentId))
        .filter((one) => !isExpired(one) && (!from || compareByLastUse(one, from) > 0))
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
    take(bucket, cost, { tokens, perMs }) {
      const now = clock.now();
      if (buckets.size >= bucketSweep) {
        for (const [name, { fullAt }] of buckets) if (fullAt <= now) buckets.delete(name);
      }
      const taken = takeTokens(buckets.get(bucket), cost, { tokens, perMs, now });
      buckets.set(bucket, taken.bucket);
      return taken.wait;
    },
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
