import type { Awaitable } from "../../contract/agent.ts";
import type { Clock } from "../../contract/context.ts";

export interface DeadlineOptions {
  readonly ms: number;
  readonly clock: Clock;
  /** Ends the wait early: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the error for work that is late. */
  readonly late?: (() => Error) | undefined;
}

/**
 * Waits for work until its time is over or `signal` aborts. A function starts at once and receives a signal that
 * aborts in both cases. Afterwards neither a timer nor a listener is left, whatever becomes of the work.
 */
export function withDeadline<T>(
  work: PromiseLike<T> | ((signal: AbortSignal) => Awaitable<T>),
  { ms, clock, signal, late = () => tooLate(ms) }: DeadlineOptions,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = typeof work === "function" ? new AbortController() : undefined;
    let timer: unknown;
    const onAbort = (): void => giveUp(signal?.reason);

    function release(): void {
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
    function giveUp(reason: unknown): void {
      release();
      reject(reason);
      controller?.abort(reason);
    }

    if (signal?.aborted) {
      // A promise that rejects later is handled all the same; a function is not called.
      if (typeof work !== "function") work.then(undefined, () => undefined);
      return reject(signal.reason as Error);
    }
    timer = clock.setTimeout(() => giveUp(late()), ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    const working = controller ? start(work as Task<T>, controller.signal) : work;
    (working as PromiseLike<T>).then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}

type Task<T> = (signal: AbortSignal) => Awaitable<T>;

// An error that is thrown counts as one that it rejects with.
async function start<T>(work: Task<T>, signal: AbortSignal): Promise<T> {
  return await work(signal);
}

function tooLate(ms: number): Error {
  return new Error(`It took longer than ${ms} ms.`);
}
