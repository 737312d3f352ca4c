import { takeTokens } from "./token-bucket.ts";
import type { Bucket } from "./token-bucket.ts";

// Looked at with each take: more than are added, so that full ones are gone after a round.
const looksPerTake = 2;

/** The token buckets of one process. */
export interface Buckets {
  readonly size: number;
  /** Takes tokens, or returns how many milliseconds to wait. */
  take(
    name: string,
    cost: number,
    rate: { readonly tokens: number; readonly perMs: number; readonly now: number },
  ): number;
  clear(): void;
}

/** Buckets by their names. A full one is as good as none: a few are looked at with each take. */
export function createBuckets(): Buckets {
  const buckets = new Map<string, Bucket>();
  let rounds = buckets.entries();

  function sweep(now: number): void {
    for (let look = 0; look < looksPerTake; look++) {
      const { value, done } = rounds.next();
      if (done) {
        rounds = buckets.entries();
        return;
      }
      if (value[1].fullAt <= now) buckets.delete(value[0]);
    }
  }

  return {
    get size() {
      return buckets.size;
    },
    take(name, cost, rate) {
      sweep(rate.now);
      const { wait, bucket } = takeTokens(buckets.get(name), cost, rate);
      buckets.set(name, bucket);
      return wait;
    },
    clear() {
      buckets.clear();
      rounds = buckets.entries();
    },
  };
}
