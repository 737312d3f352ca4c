import { systemClock } from "@holodeck/agui-core";
import type { Clock, SessionStore } from "@holodeck/agui-core";
import type { StoreBench, StoreSetup } from "../_store-bench.ts";

/** What can go wrong with one call to a database. */
export const faults = [
  // The connection breaks before the call is made.
  "fails once",
  // The call is made, and the connection breaks before it is answered.
  "loses an answer",
  // Nothing is answered for longer than a caller waits; then everything is done that was asked for.
  "answers late",
] as const;

export type StoreFault = (typeof faults)[number];

/** Between a store and its database. */
export interface FaultGate {
  /** Passed to the store: each of its calls goes through it. */
  readonly through: <T>(call: () => PromiseLike<T>) => Promise<T>;
  /** Real time for the store, but it gives a call up only while calls are held back. */
  readonly clock: Clock;
  /** From here on the call after so many others has a fault. */
  arm(fault: StoreFault, after: number): void;
  /** Calls are made again. True when the fault has happened. */
  disarm(): boolean;
  /** Makes the calls that were held back, in order. */
  release(): Promise<void>;
}

export function createFaultGate(): FaultGate {
  let fault: StoreFault | undefined;
  let left = 0;
  let isHit = false;
  let held: (() => Promise<void>)[] = [];

  function hold<T>(call: () => PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      held.push(async () => {
        try {
          resolve(await call());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  // "answers late" stays until it is disarmed; the other faults are over once they have happened.
  const isHolding = (): boolean => fault !== undefined && isHit;

  return {
    clock: createPatientClock(isHolding),
    async through(call) {
      if (!fault || left-- > 0) return call();
      isHit = true;
      if (fault === "answers late") return hold(call);
      const isMade = fault === "loses an answer";
      fault = undefined;
      if (isMade) await call();
      throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    },
    arm(next, after) {
      [fault, left, isHit] = [next, after, false];
    },
    disarm() {
      fault = undefined;
      return isHit;
    },
    async release() {
      const calls = held;
      held = [];
      for (const call of calls) await call();
    },
  };
}

// More calls than any method makes.
const maxCalls = 12;

/** Plays a scene once for each call that a store makes in it; the scene returns whether the fault has happened. */
export async function atEachCall(scene: (after: number) => Promise<boolean>): Promise<void> {
  for (let after = 0; after < maxCalls; after++) if (!(await scene(after))) return;
}

/** Rejections that nothing handled, until `stop`. */
function watchRejections(): { readonly seen: unknown[]; stop(): void } {
  const seen: unknown[] = [];
  const host = (globalThis as { process?: RejectionHost }).process;
  const listener = (reason: unknown): void => void seen.push(reason);
  host?.on("unhandledRejection", listener);
  return { seen, stop: () => void host?.off("unhandledRejection", listener) };
}

interface RejectionHost {
  on(event: string, listener: (reason: unknown) => void): unknown;
  off(event: string, listener: (reason: unknown) => void): unknown;
}

/** How long a store waits for a call in these cases. */
const callMs = 300;

/** A store whose calls go through a gate. */
export function openFaulty(
  bench: StoreBench,
  gate: FaultGate,
  setup: StoreSetup = {},
): Promise<SessionStore> {
  const { through, clock } = gate;
  return bench.open({ ...setup, through, callMs, ...(bench.isInjected ? {} : { clock }) });
}

// A slow machine is not a silent database: nothing is given up while every call is made.
function createPatientClock(isHolding: () => boolean): Clock {
  const timers = new Map<object, unknown>();
  return {
    ...systemClock,
    setTimeout(callback, ms) {
      if (ms !== callMs) return systemClock.setTimeout(callback, ms);
      const handle = {};
      const fire = (): void => {
        if (!isHolding()) return wait();
        timers.delete(handle);
        callback();
      };
      const wait = (): void => void timers.set(handle, systemClock.setTimeout(fire, ms));
      wait();
      return handle;
    },
    clearTimeout(handle) {
      const timer = timers.get(handle as object);
      systemClock.clearTimeout(timer ?? handle);
      timers.delete(handle as object);
    },
  };
}

/** Plays a case that must leave no rejection unhandled. */
export async function withoutRejections(
  bench: StoreBench,
  body: () => Promise<void>,
): Promise<unknown[]> {
  const rejections = watchRejections();
  try {
    await body();
    await bench.pass(callMs);
    return rejections.seen;
  } finally {
    rejections.stop();
  }
}
