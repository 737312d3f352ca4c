import type { Clock } from "@holodeck/agui-core";

/** Time by hand: `advance` moves it and fires what is due; `stall` moves it while the event loop stands still. */
export function manualClock(
  start = 1_000_000,
): Clock & { advance(ms: number): void; stall(ms: number): void; timers: number } {
  let now = start;
  const timers = new Map<object, { at: number; callback: () => void }>();
  return {
    now: () => now,
    setTimeout(callback, ms) {
      const handle = {};
      timers.set(handle, { at: now + ms, callback });
      return handle;
    },
    clearTimeout: (handle) => void timers.delete(handle as object),
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(([, timer]) => timer.at <= end);
        due.sort(([, a], [, b]) => a.at - b.at);
        const next = due[0];
        if (!next) break;
        timers.delete(next[0]);
        now = next[1].at;
        next[1].callback();
      }
      now = end;
    },
    stall(ms) {
      now += ms;
    },
    get timers() {
      return timers.size;
    },
  };
}
