import { awaiter } from "../base/find-awaiter.ts";
import { AgentError } from "../contract/errors.ts";
import type { Clock } from "../contract/context.ts";

export interface TimeoutOptions {
  readonly ms: number;
  /** Of the tool. */
  readonly name: string;
  readonly clock: Clock;
  /** The run's. */
  readonly signal: AbortSignal;
}

// A tool that awaits `emit` after the end of the run is ended by it, as an agent is.
const running = {
  async [awaiter]<T>(work: () => Promise<T>): Promise<T> {
    return await work();
  },
};

/** Waits for `work` until its time is up or the run ends; the signal it is given knows of both. */
export function withTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: TimeoutOptions,
): Promise<T> {
  const { ms, name, clock, signal } = options;
  // What begins after the end of the run has no client to answer to.
  if (signal.aborted) return Promise.reject(signal.reason as Error);
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
    void Promise.resolve()
      .then(() => running[awaiter](() => work(own.signal)))
      .then(resolve, reject)
      .finally(() => {
        clock.clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      });
  });
}
