import type { Lease } from "@holodeck/agui-core";
import type { RequiredMembers } from "./required-members.ts";

/**
 * A lease with nothing but what the contract asks for. It is lost with the lease behind it, or when `watch`
 * calls its argument.
 */
export function smallestLease(
  behind: Lease,
  watch: (lose: () => void) => void,
): RequiredMembers<Lease> {
  const { principal, threadId, runId, fence } = behind;
  const listeners = new Set<() => void>();
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    for (const listener of listeners) listener();
  };
  behind.onLost(lose);
  watch(lose);
  return {
    principal,
    threadId,
    runId,
    fence,
    onLost(listener) {
      if (isLost) listener();
      else listeners.add(listener);
    },
  };
}
