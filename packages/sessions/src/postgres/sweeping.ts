import type { Clock } from "@holodeck/agui-core";
import { createSweeps } from "../kit/storage/sweeps.ts";
import type { Connection } from "./client/connection.ts";

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
  const sweeps = createSweeps(clock, sweep);
  sweeps.arm();

  const expireSome = async (): Promise<number> =>
    Number(await connection.one("expire_sessions", ttlMs, sessionsPerSweep, rowsPerSweep));

  async function sweep(): Promise<"more" | "later"> {
    const removed = await expireSome();
    const logs = await connection.one("sweep", runLogMs, rowsPerSweep);
    return removed > 0 || logs === "more" ? "more" : "later";
  }

  return {
    async cleanupExpired() {
      for (let removed = 0; ;) {
        const count = await expireSome();
        removed += count;
        if (count === 0) return removed;
      }
    },
    close: sweeps.stop,
  };
}
