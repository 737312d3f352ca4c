import type { Clock, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { createOwnLease } from "@holodeck/agui-sessions/kit";
import type { OwnLease } from "@holodeck/agui-sessions/kit";

/** A run that this process owns. */
interface OwnedRun extends OwnLease {
  readonly listeners: Set<(command: RunCommand) => void>;
  /** A write was not answered: it may have been made. */
  isDoubtful: boolean;
}

export interface Presence {
  /** The name of this process. */
  readonly id: string;
  readonly isClosed: boolean;
  readonly owned: ReadonlyMap<number, OwnedRun>;
  own(key: RunKey, fence: number): Lease;
  /** The run has ended, or another process has it now: then its owner is notified. */
  disown(fence: number, isLost: boolean): void;
  /** Resolves at the next look at the database, or when the reader leaves. */
  wait(signal: AbortSignal): Promise<void>;
  /** Wakes everything that waits. */
  wake(): void;
  close(): void;
}

/**
 * What this process does with runs at the moment: a timer that looks at the database while it owns or follows
 * a run. A database that can notify its clients needs no such timer.
 */
export function createPresence(
  look: () => Promise<void>,
  { clock, pollMs }: { clock: Clock; pollMs: number },
): Presence {
  const owned = new Map<number, OwnedRun>();
  const waiting = new Set<() => void>();
  let timer: unknown;
  let isClosed = false;

  function arm(): void {
    if (isClosed || (owned.size === 0 && waiting.size === 0)) return;
    timer ??= clock.setTimeout(() => {
      timer = undefined;
      void look()
        // The next look tries again.
        .catch(() => undefined)
        .then(() => {
          wake();
          arm();
        });
    }, pollMs);
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
  }

  return {
    id: crypto.randomUUID(),
    owned,
    get isClosed() {
      return isClosed;
    },
    wake,
    own(key, fence) {
      const own = createOwnLease(key, fence);
      owned.set(fence, { ...own, listeners: new Set(), isDoubtful: false });
      arm();
      return own.lease;
    },
    disown(fence, isLost) {
      const run = owned.get(fence);
      owned.delete(fence);
      if (isLost) run?.lose();
    },
    wait(signal) {
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        if (isClosed || signal.aborted) return resolve();
        waiting.add(done);
        signal.addEventListener("abort", done, { once: true });
        arm();
      });
    },
    close() {
      isClosed = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      for (const run of owned.values()) run.lose();
      owned.clear();
      wake();
    },
  };
}
