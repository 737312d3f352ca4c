/** Whether a run was asked to stop, and its signal. */
export interface Stopping {
  readonly aborted: boolean;
  readonly signal: AbortSignal;
}

/**
 * An `AbortController` whose signal is created on first use. Creating one is expensive on Node 20 and
 * leaves hidden classes that only a full collection frees; most agents never use the signal.
 */
export class LazyAbortController implements Stopping {
  aborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** Stops with a run, or before it. */
export class LinkedAbort implements Stopping {
  readonly #outer: { readonly signal: AbortSignal };
  readonly #own = new LazyAbortController();
  #isLinked = false;

  constructor(outer: { readonly signal: AbortSignal }) {
    this.#outer = outer;
  }

  get aborted(): boolean {
    return this.#own.aborted || this.#outer.signal.aborted;
  }

  get signal(): AbortSignal {
    if (!this.#isLinked) {
      this.#isLinked = true;
      const { signal } = this.#outer;
      const abort = (): void => this.#own.abort(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    }
    return this.#own.signal;
  }

  abort(reason: unknown): void {
    this.#own.abort(reason);
  }
}

/** A signal that other code may abort. */
export class GivenSignal implements Stopping {
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }
}
