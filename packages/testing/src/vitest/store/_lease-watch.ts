import type { Lease } from "@holodeck/agui-core";

/** How often a lease has reported its loss to one listener. */
export interface LeaseWatch {
  readonly losses: number;
}

/** Listens for the loss of a lease. */
export function watchLease(lease: Lease): LeaseWatch {
  const watch = { losses: 0 };
  lease.onLost(() => {
    watch.losses++;
  });
  return watch;
}
