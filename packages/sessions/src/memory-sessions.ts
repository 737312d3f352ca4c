import { AgentError, defaultLimits, systemClock } from "@holodeck/agui-core";
import type { Clock, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { createMemoryLog, threadId } from "./memory-log.ts";
import type { PruneOptions } from "./prune-messages.ts";
import { changeSession, newSession } from "./session-record.ts";
import { takeTokens } from "./token-bucket.ts";
import type { Bucket } from "./token-bucket.ts";

export interface MemorySessionsOptions {
  /** How long a session lives after its last use. By default 30 minutes. */
  readonly ttlMs?: number;
  /** By default 1000; one more is refused with 429. */
  readonly maxSessions?: number;
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

/**
 * Sessions and run logs in the memory of this process: the default store.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { sessions: memorySessions({ ttlMs: 60 * 60_000 }) });
 * ```
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const { ttlMs = 30 * 60_000, maxSessions = defaultLimits.maxSessions } = options;
  const { clock = systemClock } = options;
  const {
    runLogEvents = defaultLimits.runLogEvents,
    runLogBytes = defaultLimits.runLogBytes,
    runLogMs = defaultLimits.runLogMs,
    logBytes = defaultLimits.logBytes,
  } = options;
  const runs = createMemoryLog({ runLogEvents, runLogBytes, runLogMs, logBytes, clock });
  const prune: PruneOptions = {
    maxMessages: options.maxMessagesPerThread,
    maxTokens: options.maxTokens,
    ...(options.estimateTokens ? { estimate: options.estimateTokens } : {}),
  };
  const sessions = new Map<string, Session>();
  const buckets = new Map<string, Bucket>();
  let sweep: unknown;

  function live(key: ThreadKey): Session | undefined {
    const session = sessions.get(threadId(key));
    if (!session || !isExpired(session)) return session;
    remove(session);
    return undefined;
  }

  function isExpired(session: Session): boolean {
    return clock.now() - session.lastActivity >= ttlMs && !runs.isActive(session);
  }

  function remove(key: ThreadKey): boolean {
    runs.deleteThread(key);
    return sessions.delete(threadId(key));
  }

  function cleanupExpired(): number {
    let removed = 0;
    for (const session of sessions.values()) {
      if (isExpired(session) && remove(session)) removed++;
    }
    return removed;
  }

  function put(session: Session): Session {
    sessions.set(threadId(session), session);
    sweep ??= clock.setTimeout(sweepNow, sweepMs);
    return session;
  }

  function sweepNow(): void {
    cleanupExpired();
    sweep = sessions.size > 0 ? clock.setTimeout(sweepNow, sweepMs) : undefined;
  }

  return {
    runs,
    get: live,
    create(key, { agentId, metadata = {} }) {
      if (live(key)) {
        throw new AgentError("run-exists", `There is a session "${key.threadId}" already.`);
      }
      if (sessions.size >= maxSessions && cleanupExpired() === 0) {
        throw new AgentError("capacity-exceeded", `No more than ${maxSessions} sessions fit.`, {
          retryAfter: 5,
        });
      }
      return put(newSession(key, { agentId, metadata }, clock.now()));
    },
    update(key, change, { ifVersion } = {}) {
      const session = live(key);
      if (!session) {
        throw new AgentError("session-not-found", `There is no session "${key.threadId}".`);
      }
      return put(changeSession(session, change, { ...prune, now: clock.now(), ifVersion }));
    },
    delete: (key) => live(key) !== undefined && remove(key),
    touch(key) {
      const session = live(key);
      if (session) put({ ...session, lastActivity: clock.now() });
    },
    list({ principal, agentId, limit, cursor }) {
      const all = [...sessions.values()]
        .filter((one) => one.principal === principal && (!agentId || one.agentId === agentId))
        .filter((one) => !isExpired(one))
        .sort((a, b) => b.lastActivity - a.lastActivity || (a.threadId < b.threadId ? -1 : 1));
      const start = cursor ? all.findIndex((one) => one.threadId === cursor) + 1 : 0;
      const items = all.slice(start, start + limit);
      const next = start + limit < all.length ? items.at(-1)?.threadId : undefined;
      return { items, next };
    },
    cleanupExpired,
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
      buckets.clear();
      runs.clear();
    },
  };
}
