import type { Clock } from "@holodeck/agui-core";

/** A clock that advances only on demand. */
export interface FakeClock extends Clock {
  date(): number;
  /** Sets the date, as a time server does. What `now` returns, and when timers fire, stays as it is. */
  setDate(date: number): void;
  /** Timers that have not fired. */
  readonly pending: number;
  /** Lets time pass: fires what is due, in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** The same at once, with nothing settled in between. */
  tick(ms: number): void;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

// Taken at import, so that a test runner's fake timers do not stop this clock.
const schedule: (task: () => void) => unknown =
  (globalThis as { setImmediate?: (task: () => void) => unknown }).setImmediate ??
  ((task) => setTimeout(task, 0));

// A stream hops once per stage (pump, run, sink, reader) before its bytes are in the reader's hands.
const turns = 4;

/**
 * Time for a handler or `runAgent` in the hands of a test.
 *
 * @example
 * ```ts
 * const clock = fakeClock();
 * const run = runAgent(agent, { clock, limits: { runTimeoutMs: 1_000 } });
 * await clock.advance(1_000);
 * expect((await run).error?.code).toBe("timeout");
 * ```
 */
export function fakeClock(start = 0): FakeClock {
  const timers = new Set<Timer>();
  let now = start;
  // What the date has more than `now`.
  let ahead = 0;

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    // Equal times fire in the order in which they were set, which is the order of the set.
    for (const timer of timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }

  function fire(timer: Timer): void {
    timers.delete(timer);
    now = Math.max(now, timer.at);
    timer.callback();
  }

  return {
    now: () => now,
    date: () => now + ahead,
    setDate: (date) => void (ahead = date - now),
    setTimeout(callback, ms) {
      const timer: Timer = { at: now + Math.max(0, ms), callback };
      timers.add(timer);
      return timer;
    },
    clearTimeout(handle) {
      timers.delete(handle as Timer);
    },
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        fire(timer);
        await settle();
      }
      now = until;
    },
    tick(ms) {
      const until = now + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) fire(timer);
      now = until;
    },
  };
}

/** Resolves when what was under way has had its turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise<void>((resolve) => void schedule(resolve));
  }
}
