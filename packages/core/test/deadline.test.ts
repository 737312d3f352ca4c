import { describe, expect, test } from "vitest";
import { fakeClock } from "@holodeck/agui-testing";
import { withDeadline } from "../src/internal.ts";

const never = new Promise<never>(() => undefined);

/** A signal that counts its listeners. */
function countedSignal(): { controller: AbortController; listeners(): number } {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    count++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    count--;
    removeEventListener.apply(signal, args);
  };
  return { controller, listeners: () => count };
}

describe("withDeadline", () => {
  test("returns what comes in time, and leaves neither timer nor listener", async () => {
    const clock = fakeClock();
    const { controller, listeners } = countedSignal();
    const options = { ms: 100, clock, signal: controller.signal };
    expect(await withDeadline(Promise.resolve(1), options)).toBe(1);
    expect(await withDeadline(() => 2, options)).toBe(2);
    expect([clock.pending, listeners()]).toEqual([0, 0]);
  });

  test("rejects with the error of the work, thrown or rejected", async () => {
    const clock = fakeClock();
    const fault = new Error("broken");
    const thrown = withDeadline(
      () => {
        throw fault;
      },
      { ms: 100, clock },
    );
    await expect(thrown).rejects.toBe(fault);
    await expect(withDeadline(Promise.reject(fault), { ms: 100, clock })).rejects.toBe(fault);
    expect(clock.pending).toBe(0);
  });

  test("rejects late work, aborts its signal and leaves no listener though the work never ends", async () => {
    const clock = fakeClock();
    const { controller, listeners } = countedSignal();
    let seen: AbortSignal | undefined;
    const work = (signal: AbortSignal): Promise<never> => {
      seen = signal;
      return never;
    };
    const late = new Error("late");
    const waiting = withDeadline(work, {
      ms: 100,
      clock,
      signal: controller.signal,
      late: () => late,
    });
    clock.tick(99);
    expect(seen?.aborted).toBe(false);
    clock.tick(1);
    await expect(waiting).rejects.toBe(late);
    expect([seen?.reason, clock.pending, listeners()]).toEqual([late, 0, 0]);
  });

  test("names the time in its own error", async () => {
    const clock = fakeClock();
    const waiting = withDeadline(never, { ms: 100, clock });
    clock.tick(100);
    await expect(waiting).rejects.toThrow("It took longer than 100 ms.");
  });

  test("ends with the reason of the signal, and leaves no timer", async () => {
    const clock = fakeClock();
    const { controller, listeners } = countedSignal();
    let seen: AbortSignal | undefined;
    const work = (signal: AbortSignal): Promise<never> => {
      seen = signal;
      return never;
    };
    const waiting = withDeadline(work, { ms: 100, clock, signal: controller.signal });
    controller.abort("stopped");
    await expect(waiting).rejects.toBe("stopped");
    expect([seen?.reason, clock.pending, listeners()]).toEqual(["stopped", 0, 0]);
  });

  test("starts nothing for a signal that is aborted, and handles a promise that rejects later", async () => {
    const clock = fakeClock();
    const signal = AbortSignal.abort("stopped");
    let calls = 0;
    const called = withDeadline(() => calls++, { ms: 100, clock, signal });
    await expect(called).rejects.toBe("stopped");
    const failing = Promise.reject(new Error("not awaited by anyone else"));
    await expect(withDeadline(failing, { ms: 100, clock, signal })).rejects.toBe("stopped");
    expect([calls, clock.pending]).toEqual([0, 0]);
  });

  test("ignores what late work returns or throws in the end", async () => {
    const clock = fakeClock();
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<never>((_, reject) => (fail = reject));
    const waiting = withDeadline(work, { ms: 100, clock });
    clock.tick(100);
    await expect(waiting).rejects.toThrow("100 ms");
    fail(new Error("too late to matter"));
    await clock.advance(1);
  });
});
