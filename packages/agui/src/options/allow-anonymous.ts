import type { AgentRequest, Principal } from "@holodeck/agui-core";

/**
 * For `authenticate`: everybody is one shared principal, on purpose. Threads can then be listed by
 * everybody, so this is for demos, tests and tools on one's own machine.
 */
export function allowAnonymous(id = "anonymous"): (request: AgentRequest) => Principal {
  return () => ({ id });
}
