import type { Clock } from "@holodeck/agui-core";

/** A timer that runs while it is needed. */
export interface Heartbeat {
  /** Starts it, when it is needed and does not run. */
  arm(): void;
  stop(): void;
}

/** Calls `beat` at an interval for as long as `isNeeded`. */
export function createHeartbeat(options: {
  readonly clock: Clock;
  readonly ms: number;
  readonly isNeeded: () => boolean;
  readonly beat: () => void;
}): Heartbeat {
  const { clock, ms, isNeeded, beat } = options;
  let timer: unknown;
  let isStopped = false;

  function arm(): void {
    if (timer !== undefined || isStopped || !isNeeded()) return;
    timer = clock.setTimeout(() => {
      timer = undefined;
      beat();
      arm();
    }, ms);
  }

  return {
    arm,
    stop() {
      isStopped = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}
