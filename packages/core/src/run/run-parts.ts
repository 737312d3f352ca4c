import type { Lease } from "../contract/run-log.ts";

/** Calls the listener when the lease is lost, but never before this function has returned. */
export function onLost(lease: Lease, listener: () => void): void {
  let hasReturned = false;
  lease.onLost(() => (hasReturned ? listener() : queueMicrotask(listener)));
  hasReturned = true;
}
