import { nextTurn } from "./hop.ts";
import type { Subscribable } from "./types.ts";

/** Where a pump puts what an agent says. None of the methods throws. */
export interface PumpTarget {
  next(value: unknown): void;
  error(reason: unknown): void;
  /** The agent is done, with what it returned. */
  complete(result?: unknown): void;
  /** A promise while the readers are behind. Only what can wait will wait. */
  ready(): Promise<void> | undefined;
}

/** Takes whatever an agent returned, says it to `target`, and returns how to stop it. */
export function pump(output: unknown, target: PumpTarget): () => void {
  if (isSubscribable(output)) return subscribe(output, target);
  if (isAsyncIterable(output)) return iterate(output[Symbol.asyncIterator](), target);
  if (isPromise(output)) return settle(output, target);
  if (isIterable(output)) return iterate(output[Symbol.iterator](), target);
  target.complete(output);
  return noop;
}

function subscribe(source: Subscribable<unknown>, target: PumpTarget): () => void {
  let stopped = false;
  const live =
    <T extends unknown[]>(forward: (...values: T) => void) =>
    (...values: T): void => {
      if (stopped) return;
      // Thrown into an Observable it would come out of a timer, and end the process.
      try {
        forward(...values);
      } catch (error) {
        target.error(error);
      }
    };
  const subscription = source.subscribe({
    next: live((value: unknown) => target.next(value)),
    error: live((reason: unknown) => target.error(reason)),
    complete: live(() => target.complete()),
  });
  return () => {
    stopped = true;
    // A teardown that throws, or none at all; the run is over by then.
    try {
      subscription.unsubscribe();
    } catch {
      return;
    }
  };
}

function settle(promise: PromiseLike<unknown>, target: PumpTarget): () => void {
  let stop: (() => void) | undefined;
  let stopped = false;
  promise.then(
    (value) => {
      try {
        if (stopped) {
          // Nobody wants it any more, and whoever feeds it has to know.
          if (isAsyncIterable(value)) void close(value[Symbol.asyncIterator]());
          return;
        }
        // An array is a result; only what streams by nature is taken as a stream.
        const streams = isSubscribable(value) || isAsyncIterable(value) || isIterator(value);
        if (streams) stop = pump(value, target);
        else target.complete(value);
      } catch (error) {
        target.error(error);
      }
    },
    (error: unknown) => {
      if (!stopped) target.error(error);
    },
  );
  return () => {
    stopped = true;
    stop?.();
  };
}

type AnyIterator = Iterator<unknown> | AsyncIterator<unknown>;

// An agent that only yields never lets the event loop turn: after this many values or this many
// milliseconds it does, so that stop, timeout and other clients get theirs. Each turn is a write of its
// own to the socket, and that is what a turn costs: with 64 a run of 200 deltas made five, with 256 two.
const turnValues = 256;
const turnMs = 4;

function iterate(iterator: AnyIterator, target: PumpTarget): () => void {
  let stopped = false;
  let finished = false;
  void run();
  return () => {
    stopped = true;
    if (!finished) void close(iterator);
  };

  async function run(): Promise<void> {
    let values = 0;
    let began = Date.now();
    try {
      while (!stopped) {
        const wait = target.ready();
        if (wait) {
          await wait;
          if (stopped) return;
        }
        const step = await iterator.next();
        if (stopped) return;
        finished = step.done === true;
        if (step.done) return target.complete(step.value);
        target.next(step.value);
        values++;
        if (values >= turnValues || (values % 8 === 0 && Date.now() - began >= turnMs)) {
          await nextTurn();
          values = 0;
          began = Date.now();
        }
      }
    } catch (error) {
      if (!stopped) target.error(error);
    }
  }
}

// A generator that is asked to end may throw from its own `finally`; the run is over by then.
async function close(iterator: AnyIterator): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    return;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isSubscribable(value: unknown): value is Subscribable<unknown> {
  return isObject(value) && "subscribe" in value && typeof value.subscribe === "function";
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value;
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return isObject(value) && Symbol.iterator in value;
}

function isIterator(value: unknown): value is IterableIterator<unknown> {
  return isIterable(value) && "next" in value && typeof value.next === "function";
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && "then" in value && typeof value.then === "function";
}

function noop(): void {}
