import { awaiter } from "../base/find-awaiter.ts";
import { withDeadline } from "../base/time/deadline.ts";
import { AgentError } from "../contract/errors.ts";
import type { Clock } from "../contract/context.ts";

export interface ToolTimeoutOptions {
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

/** Waits for a tool until its time is over or the run ends; the signal it receives aborts in both cases. */
export function withToolTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, name, clock, signal }: ToolTimeoutOptions,
): Promise<T> {
  const late = (): Error =>
    new AgentError("timeout", `The tool "${name}" took longer than ${ms} ms.`);
  return withDeadline((own) => Promise.resolve().then(() => running[awaiter](() => work(own))), {
    ms,
    clock,
    signal,
    late,
  });
}
