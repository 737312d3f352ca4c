import { AgentError } from "@holodeck/agui-core";
import { toShareOwner } from "@holodeck/agui-core/internal";
import type { Call } from "@holodeck/agui-core";
import type { Mounted } from "../options.ts";

/**
 * Takes one of the places that a caller has for responses in the background, and returns how to give it back. Throws
 * `rate-limited` when there is none.
 */
export function takeBackgroundPlace(
  { principal, request }: Call,
  { background, backgroundResponses: most }: Mounted,
): () => void {
  const owner = toShareOwner(principal, request.ip);
  const count = background.get(owner) ?? 0;
  if (count >= most) {
    const message = `Too many responses run in the background; this server allows ${most}.`;
    throw new AgentError("rate-limited", message, { retryAfter: 5 });
  }
  background.set(owner, count + 1);
  return () => {
    const left = background.get(owner)! - 1;
    if (left > 0) background.set(owner, left);
    else background.delete(owner);
  };
}
