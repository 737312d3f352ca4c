import { describe, expect, test, vi } from "vitest";
import { systemClock } from "../src/index.ts";

describe("time without end", () => {
  test("is a long time, not none", () => {
    const called = vi.fn();
    vi.useFakeTimers();
    try {
      const timer = systemClock.setTimeout(called, Number.POSITIVE_INFINITY);
      vi.advanceTimersByTime(60_000);
      expect(called).not.toHaveBeenCalled();
      systemClock.clearTimeout(timer);
    } finally {
      vi.useRealTimers();
    }
  });
});
