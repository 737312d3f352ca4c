import type { AgentRequest, Principal } from "@holodeck/agui-core";

/**
 * For `authenticate`: all callers deliberately share one principal. All of them can then list its
 * threads, so this is for demos, tests and local tools.
 */
export function allowAnonymous(id = "anonymous"): (request: AgentRequest) => Principal {
  return () => ({ id });
}
