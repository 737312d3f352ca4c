import { expect, test, vi } from "vitest";
import { systemClock } from "../src/index.ts";

/** What Node's timers are asked for. The test runner sets some, too. */
function watchTimers(): () => (number | undefined)[] {
  const spy = vi.spyOn(globalThis, "setTimeout");
  return () => spy.mock.calls.map(([, ms]) => ms);
}

test("a timer whose time is over fires at once, without a warning of Node", async () => {
  const asked = watchTimers();
  await new Promise<void>((resolve) => void systemClock.setTimeout(resolve, -12.5));
  expect(asked()).toContain(0);
  expect(asked()).not.toContain(-12.5);
});

test("a timer that is longer than Node's does not fire at once", () => {
  const asked = watchTimers();
  systemClock.clearTimeout(systemClock.setTimeout(() => undefined, Number.POSITIVE_INFINITY));
  expect(asked()).toContain(2 ** 31 - 1);
});
