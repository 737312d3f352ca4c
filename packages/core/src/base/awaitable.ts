import type { Awaitable } from "../contract/agent.ts";

/** Runs the next step. In-process stores return at once: no promise, no turn of the event loop between two steps. */
export function after<T, U>(first: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(first) ? first.then(then) : then(first);
}

export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
