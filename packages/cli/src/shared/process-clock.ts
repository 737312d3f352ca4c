import { systemClock } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";

/** The real time. Unlike those of core's `systemClock`, its timers keep the process alive. */
export const processClock: Clock = {
  ...systemClock,
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};
