import type { Lease } from "../contract/run-log.ts";

/**
 * Listens until the end of the run. Returns how to stop then, if the store does not do that itself. A signal
 * is for stores that cannot do without; it costs more than all else of a lease.
 */
export function onLost(lease: Lease, listener: () => void): (() => void) | undefined {
  if (lease.onLost) {
    lease.onLost(listener);
    return undefined;
  }
  const { lost } = lease;
  lost.addEventListener("abort", listener, { once: true });
  return () => lost.removeEventListener("abort", listener);
}
