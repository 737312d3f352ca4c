import { isRequestBound } from "@holodeck/agui-core/internal";
import type { Awaitable, Clock, SessionStore } from "@holodeck/agui-core";

/** Whether a store can be read and written, and how many sessions it has. */
export interface StoreCheck {
  /** The sessions that were counted last. */
  readonly count: number;
  /** Why the last look failed that has come to its end. */
  readonly failure: Error | undefined;
  /**
   * Returns undefined for a store in this process, which cannot be away. The promise rejects while the store
   * cannot be read or refuses writes.
   */
  look(): Promise<void> | undefined;
}

interface StoreCheckOptions {
  readonly sessions: SessionStore;
  readonly clock: Clock;
  /** How many sessions there are in a store that does not count. */
  fallback(): number;
}

// However often health is asked for, the store is written to once in this time.
const probeEveryMs = 2_000;
// A full bucket from which nothing is taken: the store removes it by itself, within a millisecond or its next sweep.
const bucket = "health";
const rate = { tokens: 1, perMs: 1 };

/** Asks a store for its count, and probes a write. */
export function createStoreCheck({ sessions, clock, fallback }: StoreCheckOptions): StoreCheck {
  let count = 0;
  let probed: Promise<void> | undefined;
  let isProbing = false;
  let probedAt = 0;
  let failure: Error | undefined;

  function ask(): Awaitable<number> {
    try {
      return sessions.count?.() ?? fallback();
    } catch (error) {
      return Promise.reject(error);
    }
  }

  // A full disk, a full Redis or a read-only replica can be read from. One probe at a time; its result is kept.
  function probe(): Promise<void> {
    const isFresh = clock.now() - probedAt < probeEveryMs;
    if (probed && (isProbing ? !isRequestBound : isFresh)) return probed;
    isProbing = true;
    probed = write().finally(() => {
      isProbing = false;
      probedAt = clock.now();
    });
    // For the case that its time is over before it is: then its failure has no reader.
    probed.catch(() => undefined);
    return probed;
  }

  async function write(): Promise<void> {
    await sessions.take(bucket, 0, rate);
  }

  return {
    get count() {
      return count;
    },
    get failure() {
      return failure;
    },
    look() {
      const counted = ask();
      if (typeof counted === "number") {
        count = counted;
        return undefined;
      }
      return counted
        .then((value) => {
          count = value;
          return probe();
        })
        .then(
          () => {
            failure = undefined;
          },
          (error: unknown) => {
            failure = error instanceof Error ? error : new Error(String(error));
            throw error;
          },
        );
    },
  };
}
