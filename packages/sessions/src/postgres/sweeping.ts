import type { Clock } from "@holodeck/agui-core";
import type { Connection } from "./client/connection.ts";

// A sweep in the middle of everything stays short; what is left waits for the next one.
const sweepMs = 60_000;
const busySweepMs = 250;
const sessionsPerSweep = 100;
const rowsPerSweep = 2_000;

export interface Sweeping {
  /** Removes all sessions that have expired, and returns how many. */
  cleanupExpired(): Promise<number>;
  close(): void;
}

/** Removes what has expired, in small batches. Several processes may do so at once. */
export function createSweeping(
  connection: Connection,
  options: { readonly clock: Clock; readonly ttlMs: number; readonly runLogMs: number },
): Sweeping {
  const { clock, ttlMs, runLogMs } = options;
  let isClosed = false;
  let timer: unknown = clock.setTimeout(() => void sweep(), sweepMs);

  const expireSome = async (): Promise<number> =>
    Number(await connection.one("expire_sessions", ttlMs, sessionsPerSweep, rowsPerSweep));

  async function sweep(): Promise<void> {
    let hasMore = false;
    try {
      const removed = await expireSome();
      const logs = await connection.one("sweep", runLogMs, rowsPerSweep);
      hasMore = removed > 0 || logs === "more";
    } catch {
      // What is due is absent for readers anyway; the next sweep removes it.
    }
    if (!isClosed) timer = clock.setTimeout(() => void sweep(), hasMore ? busySweepMs : sweepMs);
  }

  return {
    async cleanupExpired() {
      for (let removed = 0; ;) {
        const count = await expireSome();
        removed += count;
        if (count === 0) return removed;
      }
    },
    close() {
      isClosed = true;
      clock.clearTimeout(timer);
    },
  };
}
