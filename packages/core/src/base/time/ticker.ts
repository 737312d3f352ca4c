import { createHandleSet } from "../handle-set.ts";
import type { Clock } from "../../contract/context.ts";

export interface Tickable {
  tick(now: number): void;
}

/** One coarse timer for every deadline of a handler: heartbeats, stalls, timeouts. */
export interface Ticker {
  /** Returns its handle, a number above 0. */
  add(member: Tickable): number;
  remove(handle: number): void;
}

/** Ticks while it has members, about every `everyMs`. `rest` releases a timer without members. */
export function createTicker(clock: Clock, everyMs: number): Ticker & { rest(): void } {
  const members = createHandleSet<Tickable>();
  let timer: unknown;

  function tick(): void {
    timer = undefined;
    const now = clock.now();
    for (const member of members) member.tick(now);
    arm();
  }
  function arm(): void {
    if (members.size > 0) timer ??= clock.setTimeout(tick, everyMs);
  }
  function rest(): void {
    if (members.size > 0 || timer === undefined) return;
    clock.clearTimeout(timer);
    timer = undefined;
  }

  return {
    rest,
    add(member) {
      const handle = members.add(member);
      arm();
      return handle;
    },
    // A timer that finds no members is not set again. With short runs, clearing it on each removal would
    // set and clear one per run.
    remove(handle) {
      members.remove(handle);
    },
  };
}
