import { findAwaiter, isAwaited } from "../../base/find-awaiter.ts";
import { isHalted } from "../../contract/errors.ts";
import { nextTurn } from "../../base/time/turns.ts";
import type { CallKind, EndedRun } from "./late-calls.ts";
import { SafeLogger } from "../../base/logger.ts";

/**
 * The promise of a call, as an author receives it. It takes up the outcome of its work with the first
 * `then`, which `await` calls too, so that a promise that the author drops never rejects.
 */
class HandedPromise<T> extends Promise<T> {
  // What `then` returns is the author's own.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  #connect: (() => void) | undefined;

  constructor(outcome: () => Promise<T>) {
    let resolve!: (value: Promise<T>) => void;
    super((settle) => {
      resolve = settle;
    });
    this.#connect = () => resolve(outcome());
  }

  get isObserved(): boolean {
    return this.#connect === undefined;
  }

  // oxlint-disable-next-line unicorn/no-thenable
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const connect = this.#connect;
    this.#connect = undefined;
    connect?.();
    return super.then(onFulfilled, onRejected);
  }
}

/** A promise that may be dropped, of work outside a run. */
export function handOut<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return new HandedPromise(() => work);
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

interface BegunCall {
  readonly name: string;
  readonly kind: CallKind;
  readonly promise: HandedPromise<unknown>;
  isSettled: boolean;
  error: unknown;
}

/** The run that calls are made in. */
export interface CallingRun extends EndedRun {
  isLate(): boolean;
  /** A call that waits for its answer is awaited by a listener, which cannot end the run. */
  halt(): void;
}

/** The calls that one agent has begun. */
export class BegunCalls {
  readonly #run: CallingRun;
  // Until it is settled and observed: a promise that is kept in a variable may be awaited later.
  readonly #calls = new Set<BegunCall>();
  #settling: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(run: CallingRun) {
    this.#run = run;
  }

  begin<T>(name: string, work: Promise<T>, kind: CallKind): Promise<T> {
    // One callback per promise, from the work to what the author awaits: V8 follows no other chain.
    const outcome = work.then(
      (value): Outcome<T> => this.#settled(call, { value }),
      (error: unknown): Outcome<T> => this.#settled(call, { error }),
    );
    const promise = new HandedPromise(() => {
      // The run may have waited for it as for one that was dropped.
      this.#wake?.();
      return outcome.then((settled) => this.#unwrap(settled));
    });
    const call: BegunCall = { name, kind, promise, isSettled: false, error: undefined };
    this.#calls.add(call);
    return promise;
  }

  /** Whether a call is in progress that the run has to wait for. */
  get isOpen(): boolean {
    for (const { kind, promise, isSettled } of this.#calls) {
      if (!isSettled && (kind === "tool" || !promise.isObserved)) return true;
    }
    return false;
  }

  /** Resolves when no call is in progress, and what their results set off has had its turn. */
  settled(): Promise<void> {
    return (this.#settling ??= this.#settle());
  }

  /** Logs the calls whose promises were dropped, each name once. */
  reportForgotten(): void {
    const reported = new Set<string>();
    const { runId, threadId, agentId, logger } = this.#run.context;
    for (const { name, promise, error } of this.#calls) {
      if (promise.isObserved || reported.has(name)) continue;
      reported.add(name);
      const failure = error === undefined || isHalted(error) ? {} : { error };
      new SafeLogger(logger).warn(
        { runId, threadId, agentId, call: name, ...failure },
        `${name} was not awaited by agent "${agentId}" in run "${runId}": ` +
          `${"error" in failure ? "it failed, and its error was not handled" : "its result is lost"}. ` +
          "Add await before the call.",
      );
    }
    this.#calls.clear();
  }

  #settled<T>(call: BegunCall, outcome: Outcome<T>): Outcome<T> {
    call.isSettled = true;
    if ("error" in outcome) call.error = outcome.error;
    if (call.promise.isObserved) this.#calls.delete(call);
    this.#wake?.();
    return outcome;
  }

  async #settle(): Promise<void> {
    while (this.isOpen) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      if (!this.isOpen) await nextTurn();
    }
    this.#wake = undefined;
    this.#settling = undefined;
  }

  // A listener that awaits a call which has to wait, or which the end of the run aborts, would reject, and
  // nothing handles that.
  #unwrap<T>(outcome: Outcome<T>): T | Promise<never> {
    if ("value" in outcome) return outcome.value;
    const { error } = outcome;
    if (!this.#run.isLate()) {
      if (!isHalted(error) || findAwaiter() !== "author") throw error;
      this.#run.halt();
      return new Promise<never>(() => {});
    }
    return nextTurn().then(() => {
      if (isAwaited()) throw error;
      return new Promise<never>(() => {});
    });
  }
}
