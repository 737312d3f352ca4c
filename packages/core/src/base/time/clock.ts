import type { Clock } from "../../contract/context.ts";

const longest = 2 ** 31 - 1;
// Where `now` counts from: a getter, and slow.
const origin = performance.timeOrigin;

/** The real time. Its timers never keep a process alive. */
export const systemClock: Clock = {
  now: () => Math.floor(origin + performance.now()),
  date: () => Date.now(),
  setTimeout(callback, ms) {
    // Longer than a timer can be, it would fire at once. Node warns of a time that is over already.
    const timer = setTimeout(callback, Math.max(0, Math.min(ms, longest))) as unknown;
    // Node's timers keep the process alive unless unreferenced; a browser's timer is a number.
    if (typeof timer === "object" && timer && "unref" in timer)
      (timer as { unref(): void }).unref();
    return timer;
  },
  clearTimeout(handle) {
    clearTimeout(handle as ReturnType<typeof setTimeout>);
  },
};

/** The date of a clock, in milliseconds since 1970. */
export function dateOf(clock: Clock): number {
  return clock.date ? clock.date() : clock.now();
}
