import { withDeadline } from "@holodeck/agui-core/internal";
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
export async function withRunTimeout<T>(
  task: (signal: AbortSignal) => Awaitable<T>,
  { ms, clock, signal }: RunTimeLimit,
): Promise<{ readonly value: T } | Failure> {
  const late = new Error(`It took longer than ${ms} ms.`);
  try {
    return { value: await withDeadline(task, { ms, clock, signal, late: () => late }) };
  } catch (error) {
    if (signal.aborted) return { reason: "stopped" };
    return error === late ? { reason: "timeout" } : { error };
  }
}
