import type { Lease, RunKey } from "@holodeck/agui-core";

/** A lease and what its store does with it. */
export interface OwnLease {
  readonly lease: Lease;
  /** Calls the listeners of the lease, once. */
  lose(): void;
}

/** Makes the lease of a run that this process owns. */
export function createOwnLease({ principal, threadId, runId }: RunKey, fence: number): OwnLease {
  let isLost = false;
  let listeners: (() => void) | undefined;
  const lease: Lease = {
    principal,
    threadId,
    runId,
    fence,
    onLost(listener) {
      if (isLost) return listener();
      listeners = both(listeners, listener);
    },
  };
  return {
    lease,
    lose() {
      isLost = true;
      const call = listeners;
      listeners = undefined;
      call?.();
    },
  };
}

/** One listener that calls two. A lease nearly always has one, which needs no list. */
export function both(first: (() => void) | undefined, second: () => void): () => void {
  if (!first) return second;
  return () => {
    first();
    second();
  };
}
