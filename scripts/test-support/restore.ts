// Files share processes: what one has replaced, the next finds as it was.
import { afterAll, vi } from "vitest";

const kept = Symbol.for("holodeck.test.timers");
type Timers = Pick<typeof globalThis, "setTimeout" | "setInterval" | "setImmediate">;
const { setTimeout, setInterval, setImmediate } = globalThis;
// This file is loaded for every test file; the first one of a process finds the timers of Node.
const timers = ((globalThis as { [kept]?: Timers })[kept] ??= {
  setTimeout,
  setInterval,
  setImmediate,
});

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  // A spy on a fake timer puts the fake back: without this, the file that comes next would wait for ever.
  const replaced = (Object.keys(timers) as (keyof Timers)[]).filter(
    (name) => globalThis[name] !== timers[name],
  );
  Object.assign(globalThis, timers);
  if (replaced.length > 0)
    throw new Error(
      `This file left ${replaced.join(", ")} replaced; restore it before its tests end.`,
    );
});
