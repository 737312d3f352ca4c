import type { AgentRequest, Principal } from "@holodeck/agui-core";
import { sharedPrincipal } from "@holodeck/agui-core/internal";

/**
 * For `authenticate`: all callers deliberately share one principal. All of them can then list its
 * threads, so this is for demos, tests and local tools. What all clients may take of the server is shared
 * by their addresses.
 */
export function allowAnonymous(id = "anonymous"): (request: AgentRequest) => Principal {
  return () => sharedPrincipal(id);
}
