import { isRequestBound } from "@holodeck/agui-core/internal";
import type { Clock } from "@holodeck/agui-core";

const sweepMs = 60_000;
// A sweep in the middle of everything stays short; what is left waits for the next one.
const busySweepMs = 250;

/** Removes what has expired, every minute. */
export interface Sweeps {
  /** Starts the timer, if it does not run. */
  arm(): void;
  stop(): void;
}

type Left = "more" | "later" | "done";

/**
 * `sweep` removes some of what is due, and returns "more" when some is left, "later" when there will be some, or
 * "done": then `arm` has to be called again. What is due is absent for readers anyway, so a failure waits for the next
 * sweep.
 */
export function createSweeps(clock: Clock, sweep: () => Left | Promise<Left>): Sweeps {
  let timer: unknown;
  let isStopped = false;
  let sweptAt = 0;

  function armIn(ms: number): void {
    if (timer !== undefined || isStopped) return;
    if (isRequestBound) sweepIfDue(ms);
    else timer = clock.setTimeout(run, ms);
  }

  // Where no timer outlives its request, one that stores something sweeps.
  function sweepIfDue(ms: number): void {
    if (clock.now() - sweptAt < ms) return;
    sweptAt = clock.now();
    run();
  }

  function run(): void {
    timer = undefined;
    try {
      const left = sweep();
      if (typeof left === "string") next(left);
      else left.then(next, () => next("later"));
    } catch {
      next("later");
    }
  }

  function next(left: Left): void {
    if (left !== "done") armIn(left === "more" ? busySweepMs : sweepMs);
  }

  return {
    arm: () => armIn(sweepMs),
    stop() {
      isStopped = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}
