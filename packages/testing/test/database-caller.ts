import { AgentError, isAgentError, systemClock } from "@holodeck/agui-core";
import type { Awaitable } from "@holodeck/agui-core";
import type { StoreSetup } from "../src/vitest/index.ts";

/** Makes one call to the database of a store, or fails with `store-unavailable`. */
export type CallDatabase = <T>(work: () => Awaitable<T>) => Promise<T>;

export type CreateCaller = (setup: StoreSetup) => CallDatabase;

const unavailable = (cause: unknown): AgentError =>
  new AgentError("store-unavailable", "The database did not answer.", { cause });

/** Gives up after a while; what was given up is not done later. */
export const createCaller: CreateCaller = (setup) => (work) => {
  const abandoned = { isOver: false };
  const done = callThrough(setup, () => {
    if (abandoned.isOver) throw new Error("Too late.");
    return work();
  });
  return settleWithin(setup, done, () => (abandoned.isOver = true));
};

/** What was given up is done when the database comes back. */
const doesItLater: CreateCaller = (setup) => (work) =>
  settleWithin(setup, callThrough(setup, work), () => undefined);

/** A call whose connection broke is made again, though it may have been made. */
const doesItTwice: CreateCaller = (setup) => (work) => {
  const again = (error: unknown): Promise<never> => {
    if (isAgentError(error)) throw error;
    return callThrough(setup, work) as Promise<never>;
  };
  return settleWithin(setup, callThrough(setup, work).catch(again), () => undefined);
};

/** The errors of the database's client reach the caller as they are. */
const passesErrorsOn: CreateCaller = (setup) => async (work) => {
  try {
    return await createCaller(setup)(work);
  } catch (error) {
    const isOurs = isAgentError(error) && error.code === "store-unavailable";
    throw isOurs ? (error.cause as Error) : error;
  }
};

/** A call that fails after it was given up is an unhandled rejection. */
const forgetsRejections: CreateCaller = (setup) => (work) => {
  let isOver = false;
  const done = callThrough(setup, () => {
    if (isOver) throw new Error("Too late.");
    return work();
  });
  return settleWithin(setup, done, () => {
    isOver = true;
    void done.finally(() => undefined);
  });
};

/** What stores do wrong when their database fails. */
export const brokenCallers: Readonly<
  Record<"doesItLater" | "doesItTwice" | "passesErrorsOn" | "forgetsRejections", CreateCaller>
> = { doesItLater, doesItTwice, passesErrorsOn, forgetsRejections };

async function callThrough<T>({ through }: StoreSetup, work: () => Awaitable<T>): Promise<T> {
  return through ? through(async () => work()) : work();
}

async function settleWithin<T>(
  { clock = systemClock, callMs = 30_000 }: StoreSetup,
  done: Promise<T>,
  giveUp: () => void,
): Promise<T> {
  let timer: unknown;
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      giveUp();
      reject(unavailable(new Error("It took too long.")));
    }, callMs);
  });
  try {
    return await Promise.race([done, late]);
  } catch (error) {
    throw isAgentError(error) ? error : unavailable(error);
  } finally {
    clock.clearTimeout(timer);
  }
}
