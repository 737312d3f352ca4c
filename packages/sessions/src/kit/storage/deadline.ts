import type { Clock } from "@holodeck/agui-core";

/** The time at which a caller stops waiting. */
export interface Deadline {
  /** Rejects when the time is over. */
  readonly passed: Promise<never>;
  isOver(): boolean;
  clear(): void;
}

/** Begins to count at once. `clear` has to be called when the work is done. */
export function createDeadline(clock: Clock, ms: number): Deadline {
  let over = false;
  let timer: unknown;
  const passed = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      over = true;
      reject(new Error(`The database did not respond within ${ms} ms.`));
    }, ms);
  });
  // The waiting caller receives the rejection; a call that was answered in time has none.
  passed.catch(() => undefined);
  return { passed, isOver: () => over, clear: () => clock.clearTimeout(timer) };
}

/**
 * What a call to a database returns, or a rejection when it takes too long. The call itself goes on: what it
 * does later must do no harm, and its failure is ignored.
 */
export async function answerWithin<T>(
  clock: Clock,
  ms: number,
  call: () => PromiseLike<T>,
): Promise<T> {
  const deadline = createDeadline(clock, ms);
  try {
    return await Promise.race([call(), deadline.passed]);
  } finally {
    deadline.clear();
  }
}

export interface PatienceOptions {
  readonly clock: Clock;
  /** How long a caller waits, all tries together. */
  readonly ms: number;
  /** How long to wait before a call is made again. */
  readonly pauseMs: number;
  /** Whether a failure may pass by itself: the call is made again. It must do no harm when it is made twice. */
  readonly isPassing: (error: unknown) => boolean;
  /** Why there is no connection at the moment, if that is known. */
  readonly reason?: () => unknown;
}

/**
 * What a call to a database returns, within a time, made again while it fails in a way that may pass. When the time is
 * over the reason is why there is no connection, or the last of those failures; that the database was silent only when
 * neither is known.
 */
export async function answerPatiently<T>(
  { clock, ms, pauseMs, isPassing, reason }: PatienceOptions,
  call: (deadline: Deadline) => PromiseLike<T>,
): Promise<T> {
  const deadline = createDeadline(clock, ms);
  let passing: unknown;
  try {
    for (;;) {
      try {
        return await Promise.race([call(deadline), deadline.passed]);
      } catch (error) {
        if (deadline.isOver() || !isPassing(error)) throw error;
        passing = error;
        await Promise.race([pause(clock, pauseMs), deadline.passed]);
      }
    }
  } catch (error) {
    throw deadline.isOver() ? (reason?.() ?? passing ?? error) : error;
  } finally {
    deadline.clear();
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}
