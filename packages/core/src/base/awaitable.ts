import type { Awaitable } from "../contract/agent.ts";

/** Runs the next step. In-process stores return at once: no promise, no turn of the event loop between two steps. */
export function after<T, U>(first: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(first) ? first.then(then) : then(first);
}

/** Whether a value has a `then`: a promise of any realm or library. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}

// How many run at a time.
const parallel = 8;

/** Does something for each item, a few at a time. The results are in the order of the items. */
export async function inParallel<T, U>(
  items: readonly T[],
  work: (item: T) => Promise<U>,
): Promise<readonly U[]> {
  const results: U[] = Array.from({ length: items.length });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
  return results;
}
