import type { Exchange, Principal } from "@holodeck/agui-core";
import { toShareOwner } from "@holodeck/agui-core/internal";

/** The request whose client takes a share of a budget. */
export interface ShareRequest {
  readonly exchange: Exchange;
  /** The caller, once it is authenticated. */
  readonly principal: Principal | undefined;
}

/** Who shares the bytes that all clients may take: a caller, or an address where callers are not known. */
export function shareOwnerOf({ principal, exchange }: ShareRequest): string {
  return toShareOwner(principal, exchange.request.ip);
}
