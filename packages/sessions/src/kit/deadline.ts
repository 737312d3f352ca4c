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
