import { Observable } from "rxjs/internal/Observable";
import { describeValue } from "../base/options.ts";
import { paced, pump } from "../agent/pump.ts";
import type { Pumping } from "../agent/pump.ts";
import type { Subscribable } from "../contract/agent.ts";

/** What can be merged: an Observable of any rxjs copy, a generator, an array. */
export type MergeSource<T> = Subscribable<T> | AsyncIterable<T> | Iterable<T>;

/** The type of events that a source emits. */
export type EventOf<TSource> =
  TSource extends Observable<infer T>
    ? T
    : TSource extends AsyncIterable<infer T>
      ? T
      : TSource extends Subscribable<infer T>
        ? T
        : TSource extends Iterable<infer T>
          ? T
          : never;

/** Several streams as one, to subscribe to or to iterate. An agent and a middleware may return it. */
export type MergedStream<T> = Observable<T> & AsyncIterable<T>;

/**
 * Merges several streams into one. Each keeps its order, none waits for another, and nothing starts
 * before the result is subscribed to. The first failure ends all of them, and so does a consumer
 * that unsubscribes.
 *
 * @example
 * ```ts
 * createAgentHandler(() => mergeStreams(answer(), progress()));
 * ```
 */
export function mergeStreams<TSources extends readonly MergeSource<unknown>[]>(
  ...sources: TSources
): MergedStream<EventOf<TSources[number]>> {
  sources.forEach(assertSource);
  return merge(sources as readonly MergeSource<EventOf<TSources[number]>>[]);
}

function merge<T>(sources: readonly MergeSource<T>[]): MergedStream<T> {
  const stream = new Observable<T>((subscriber) =>
    start(sources, {
      next: (value) => subscriber.next(value),
      error: (reason) => subscriber.error(reason),
      complete: () => subscriber.complete(),
      ready: () => undefined,
    }),
  );
  const iterator = (): AsyncIterator<T, undefined> => iterate(sources);
  return Object.assign(stream, { [Symbol.asyncIterator]: iterator, [paced]: true });
}

interface Merge<T> {
  next(value: T, source: number): void;
  error(reason: unknown): void;
  complete(): void;
  /** A promise while the last value of a source has not been consumed. */
  ready(source: number): Promise<void> | undefined;
}

/** Starts all sources, and returns how to stop them. */
function start<T>(sources: readonly MergeSource<T>[], merge: Merge<T>): () => void {
  const pumping: Pumping[] = [];
  let open = sources.length;
  let over = false;
  const stop = (): void => {
    over = true;
    // A teardown may call back; each is run once.
    for (const one of pumping.splice(0)) one.stop();
  };
  const fail = (reason: unknown): void => {
    if (over) return;
    stop();
    merge.error(reason);
  };
  const finish = (): void => {
    if (over) return;
    over = true;
    merge.complete();
  };
  for (const [index, source] of sources.entries()) {
    if (over) break;
    try {
      pumping.push(
        pump(source, {
          next: (value) => {
            if (!over) merge.next(value as T, index);
          },
          error: fail,
          complete: () => {
            if (--open === 0) finish();
          },
          ready: () => merge.ready(index),
        }),
      );
    } catch (error) {
      fail(error);
    }
  }
  if (over) stop();
  else if (sources.length === 0) finish();
  return stop;
}

type Step<T> = IteratorResult<T, undefined>;

/** What has arrived and was not taken yet: a value with its source, or the end. */
type Arrival<T> = { value: T; source: number } | { reason: unknown } | "end";

/** The values of a source that have not been consumed yet. */
interface Held {
  count: number;
  wait?: Promise<void>;
  release?: () => void;
}

function iterate<T>(sources: readonly MergeSource<T>[]): AsyncIterableIterator<T, undefined> {
  const arrived: Arrival<T>[] = [];
  const asking: { resolve(step: Step<T>): void; reject(reason: unknown): void }[] = [];
  const held = new Map<number, Held>();
  let stop: (() => void) | undefined;
  let over = false;

  function arrive(arrival: Arrival<T>): void {
    arrived.push(arrival);
    serve();
  }

  function serve(): void {
    while (asking.length > 0 && (over || arrived.length > 0)) {
      const { resolve, reject } = asking.shift()!;
      const arrival = arrived.shift() ?? "end";
      if (arrival === "end") {
        over = true;
        resolve({ done: true, value: undefined });
      } else if ("reason" in arrival) {
        over = true;
        reject(arrival.reason);
      } else {
        resolve({ done: false, value: arrival.value });
        taken(arrival.source);
      }
    }
  }

  function taken(source: number): void {
    const one = held.get(source)!;
    if (--one.count > 0) return;
    held.delete(source);
    one.release?.();
  }

  function begin(): void {
    stop = () => {};
    stop = start(sources, {
      next(value, source) {
        const one: Held = held.get(source) ?? { count: 0 };
        one.count++;
        held.set(source, one);
        arrive({ value, source });
      },
      error: (reason) => arrive({ reason }),
      complete: () => arrive("end"),
      ready(source) {
        const one = held.get(source);
        if (one) one.wait ??= new Promise((resolve) => (one.release = resolve));
        return one?.wait;
      },
    });
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      return new Promise((resolve, reject) => {
        asking.push({ resolve, reject });
        if (!stop && !over) begin();
        serve();
      });
    },
    return() {
      over = true;
      arrived.length = 0;
      stop?.();
      // Sources that wait for the reader are released, and find that they were stopped.
      for (const { release } of held.values()) release?.();
      held.clear();
      serve();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

function assertSource(source: unknown, index: number): void {
  const isStream =
    typeof source === "object" &&
    source !== null &&
    ("subscribe" in source || Symbol.asyncIterator in source || Symbol.iterator in source);
  if (isStream) return;
  throw new TypeError(
    `mergeStreams takes Observables and iterables; number ${index + 1} is ${describeValue(source)}.`,
  );
}
