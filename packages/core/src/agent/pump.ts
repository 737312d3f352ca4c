import { isPromise } from "../base/awaitable.ts";
import { awaiter } from "../base/find-awaiter.ts";
import { nextTurn } from "../base/time/turns.ts";
import type { Subscribable } from "../contract/agent.ts";

/** Receives what a pump reads from an agent. None of the methods throws. */
export interface PumpTarget {
  next(value: unknown): void;
  error(reason: unknown): void;
  /** The agent is done, with what it returned. */
  complete(result?: unknown): void;
  /** A promise while the readers are behind. Only what can wait will wait. */
  ready(): Promise<void> | undefined;
}

/** Marks a stream of ours that can be subscribed to and iterated: iterated it waits for its readers. */
export const paced: unique symbol = Symbol("paced");

/** What is being pumped. */
export interface Pumping {
  /** Nothing more is sent to the target, and the source is asked to end. */
  stop(): void;
}

/** Reads any value that an agent returned, and sends it to `target`. */
export function pump(output: unknown, target: PumpTarget): Pumping {
  if (isAsyncIterable(output)) {
    if (paced in output || !isSubscribable(output)) {
      return new Iteration(output[Symbol.asyncIterator](), target);
    }
  }
  if (isSubscribable(output)) return new Subscribed(output, target);
  if (isPromise(output)) return new Settlement(output, target);
  if (isIterable(output)) return new Iteration(output[Symbol.iterator](), target);
  target.complete(output);
  return over;
}

const over: Pumping = { stop() {} };

class Subscribed implements Pumping {
  readonly #target: PumpTarget;
  readonly #subscription: ReturnType<Subscribable<unknown>["subscribe"]>;
  #stopped = false;

  constructor(source: Subscribable<unknown>, target: PumpTarget) {
    this.#target = target;
    // Functions, and not this object: an older rxjs calls its observers on an heir of theirs.
    this.#subscription = source.subscribe({
      next: (value) => this.#next(value),
      error: (reason) => this.#error(reason),
      complete: () => this.#complete(),
    });
  }

  stop(): void {
    this.#stopped = true;
    // A teardown that throws, or none at all; the run is over by then.
    try {
      this.#subscription.unsubscribe();
    } catch {
      return;
    }
  }

  // Thrown into an Observable it would come out of a timer, and end the process.
  #next(value: unknown): void {
    if (this.#stopped) return;
    try {
      this.#target.next(value);
    } catch (error) {
      this.#target.error(error);
    }
  }

  #error(reason: unknown): void {
    if (this.#stopped) return;
    try {
      this.#target.error(reason);
    } catch (error) {
      this.#target.error(error);
    }
  }

  #complete(): void {
    if (this.#stopped) return;
    try {
      this.#target.complete();
    } catch (error) {
      this.#target.error(error);
    }
  }
}

class Settlement implements Pumping {
  readonly #target: PumpTarget;
  #pumping: Pumping | undefined;
  #stopped = false;

  constructor(promise: PromiseLike<unknown>, target: PumpTarget) {
    this.#target = target;
    void this[awaiter](promise);
  }

  stop(): void {
    this.#stopped = true;
    this.#pumping?.stop();
  }

  async [awaiter](promise: PromiseLike<unknown>): Promise<void> {
    let value: unknown;
    try {
      value = await promise;
    } catch (error) {
      if (!this.#stopped) this.#target.error(error);
      return;
    }
    this.#settled(value);
  }

  #settled(value: unknown): void {
    try {
      if (this.#stopped) {
        // The value is not needed, and its producer has to be notified.
        if (isAsyncIterable(value)) void close(value[Symbol.asyncIterator]());
        return;
      }
      // An array is a result; only what streams by nature is taken as a stream.
      const streams = isSubscribable(value) || isAsyncIterable(value) || isIterator(value);
      if (streams) this.#pumping = pump(value, this.#target);
      else this.#target.complete(value);
    } catch (error) {
      this.#target.error(error);
    }
  }
}

type AnyIterator = Iterator<unknown> | AsyncIterator<unknown>;

// An agent that only yields never lets the event loop turn: after this many values or milliseconds it
// does, so that stop, timeout and other clients are served. Each turn is a separate write to the socket,
// which is its cost, so the number is large.
const turnValues = 256;
const turnMs = 4;

class Iteration implements Pumping {
  readonly #iterator: AnyIterator;
  readonly #target: PumpTarget;
  #stopped = false;
  #finished = false;

  constructor(iterator: AnyIterator, target: PumpTarget) {
    this.#iterator = iterator;
    this.#target = target;
    void this[awaiter]();
  }

  stop(): void {
    this.#stopped = true;
    if (!this.#finished) void close(this.#iterator);
  }

  async [awaiter](): Promise<void> {
    const iterator = this.#iterator;
    const target = this.#target;
    let values = 0;
    let began = performance.now();
    try {
      while (!this.#stopped) {
        const wait = target.ready();
        if (wait) {
          await wait;
          if (this.#stopped) return;
        }
        const step = await iterator.next();
        if (this.#stopped) return;
        if (step.done) {
          this.#finished = true;
          return target.complete(step.value);
        }
        target.next(step.value);
        values++;
        if (values >= turnValues || (values % 8 === 0 && performance.now() - began >= turnMs)) {
          await nextTurn();
          values = 0;
          began = performance.now();
        }
      }
    } catch (error) {
      if (!this.#stopped) target.error(error);
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
