import { defaultLimits, systemClock } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";
import type { PruneOptions } from "../sessions/prune-messages.ts";

/** What every store on a database can be configured with. */
export interface StoreOptions {
  /** How long a session lives after its last use. By default 30 minutes. */
  readonly ttlMs?: number;
  /** A session beyond this limit, of all processes together, is refused with 429. By default there is no limit. */
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

/** The options with their defaults. */
export interface StoreSettings {
  readonly ttlMs: number;
  readonly maxSessions: number;
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** For `changeSession`. */
  readonly prune: PruneOptions;
}

export function toStoreSettings(options: StoreOptions): StoreSettings {
  return {
    ttlMs: options.ttlMs ?? 30 * 60_000,
    maxSessions: options.maxSessions ?? Number.POSITIVE_INFINITY,
    runLogEvents: toFinite(options.runLogEvents ?? defaultLimits.runLogEvents),
    runLogBytes: toFinite(options.runLogBytes ?? defaultLimits.runLogBytes),
    runLogMs: options.runLogMs ?? defaultLimits.runLogMs,
    leaseMs: options.leaseMs ?? 15_000,
    clock: options.clock ?? systemClock,
    prune: {
      maxMessages: options.maxMessagesPerThread,
      maxTokens: options.maxTokens,
      ...(options.estimateTokens ? { estimate: options.estimateTokens } : {}),
    },
  };
}

// A database has no number for infinity.
function toFinite(limit: number): number {
  return limit === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : limit;
}
