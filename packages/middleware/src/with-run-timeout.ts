import type { Awaitable, Clock } from "@holodeck/agui-core";

export interface RunTimeLimit {
  readonly ms: number;
  readonly clock: Clock;
  /** Ends it before its time. */
  readonly signal: AbortSignal;
}

/** Why something asked for did not come. */
export type Failure = { readonly reason: "timeout" | "stopped" } | { readonly error: unknown };

/**
 * Returns the result of a task, or the reason for having none. The signal passed to it is aborted when the
 * result is not needed.
 */
export function withRunTimeout<T>(
  task: (signal: AbortSignal) => Awaitable<T>,
  { ms, clock, signal }: RunTimeLimit,
): Promise<{ readonly value: T } | Failure> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    const timer = clock.setTimeout(() => settle({ reason: "timeout" }), ms);
    const stop = (): void => settle({ reason: "stopped" });

    function settle(outcome: { readonly value: T } | Failure): void {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(outcome);
      if (!("value" in outcome)) controller.abort();
    }

    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    // What it throws at once counts like what it rejects with.
    new Promise<T>((done) => done(task(controller.signal))).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    );
  });
}
