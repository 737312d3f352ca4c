import type { Lease } from "@holodeck/agui-core";

/** Whether a lease is lost: it then calls a listener at once. */
export function isLost(lease: Lease): boolean {
  let lost = false;
  lease.onLost(() => (lost = true));
  return lost;
}
