import { createHandleSet } from "../handle-set.ts";
import { isRequestBound } from "./request-bound.ts";
import type { Clock } from "../../contract/context.ts";

export interface Tickable {
  tick(now: number): void;
}

/** A coarse timer for every deadline of a handler: heartbeats, stalls, timeouts. */
export interface Ticker {
  /** Returns its handle, a number above 0. */
  add(member: Tickable): number;
  remove(handle: number): void;
  /** Does what another request asks of a member: at once, or in the member's request where timers belong to requests. */
  post(handle: number, task: () => void): void;
  /** Whether the request of a member has ended before the member was removed. */
  isForsaken(handle: number): boolean;
  /** Releases a timer without members. */
  rest(): void;
}

/** Ticks while it has members, about every `everyMs`. */
export function createTicker(clock: Clock, everyMs: number): Ticker {
  return isRequestBound ? createRequestTicker(clock, everyMs) : createSharedTicker(clock, everyMs);
}

/** One timer for all members. */
function createSharedTicker(clock: Clock, everyMs: number): Ticker {
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

  return {
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
    post: (_handle, task) => task(),
    isForsaken: () => false,
    rest() {
      if (members.size > 0 || timer === undefined) return;
      clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}

// What others ask of a member waits for its tick: a stop is not late.
const longestMs = 100;
// A member that has not been ticked for so long has no timer.
const forsakenMs = 10_000;

/** A member's own timer. */
interface OwnTimer {
  readonly posted: (() => void)[];
  tickedAt: number;
}

/** A timer for each member, set in the request that adds it. */
function createRequestTicker(clock: Clock, everyMs: number): Ticker {
  const members = new Map<number, OwnTimer>();
  const ms = Math.min(everyMs, longestMs);
  let handles = 0;

  return {
    add(member) {
      const handle = ++handles;
      const own: OwnTimer = { posted: [], tickedAt: clock.now() };
      const tick = (): void => {
        own.tickedAt = clock.now();
        for (const task of own.posted.splice(0)) task();
        if (!members.has(handle)) return;
        member.tick(own.tickedAt);
        clock.setTimeout(tick, ms);
      };
      members.set(handle, own);
      clock.setTimeout(tick, ms);
      return handle;
    },
    // Its timer is left to find that: a request cannot clear the timer of another.
    remove: (handle) => void members.delete(handle),
    post: (handle, task) => void members.get(handle)?.posted.push(task),
    isForsaken(handle) {
      const own = members.get(handle);
      return own !== undefined && clock.now() - own.tickedAt > forsakenMs;
    },
    rest: () => undefined,
  };
}
