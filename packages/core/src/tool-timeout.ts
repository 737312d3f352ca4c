import { AgentError } from "./errors.ts";
import type { Clock } from "./types.ts";

export interface TimeoutOptions {
  readonly ms: number;
  /** Of the tool. */
  readonly name: string;
  readonly clock: Clock;
  /** The run's. */
  readonly signal: AbortSignal;
}

/** Waits for `work` until its time is up or the run ends; the signal it is given knows of both. */
export function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: TimeoutOptions,
): Promise<T> {
  const { ms, name, clock, signal } = options;
  const own = new AbortController();
  return new Promise((resolve, reject) => {
    const giveUp = (reason: unknown): void => {
      reject(reason);
      own.abort(reason);
    };
    const onAbort = (): void => giveUp(signal.reason);
    const timer = clock.setTimeout(
      () => giveUp(new AgentError("timeout", `The tool "${name}" took longer than ${ms} ms.`)),
      ms,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    void Promise.resolve()
      .then(() => work(own.signal))
      .then(resolve, reject)
      .finally(() => {
        clock.clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      });
  });
}
