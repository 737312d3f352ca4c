import type { AgentLike } from "@holodeck/agui-core";
import { copilotkit } from "@holodeck/agui-copilotkit";
import { logging } from "@holodeck/agui-middleware";
import { agui } from "@holodeck/agui-protocol";
import { rest, threads } from "@holodeck/agui-rest";
import { vercel } from "@holodeck/agui-vercel";
import { createHandler } from "./create-handler.ts";
import type { AgentHandler, EntryParts } from "./create-handler.ts";
import { describeApi, openApiRoute } from "./describe/openapi.ts";
import type { AgentHandlerOptions } from "./options/options.ts";
import type { AgentMap } from "./runs/agents.ts";

const parts: EntryParts = {
  protocols: () => [agui(), copilotkit(), vercel(), rest(), threads()],
  logging,
  document: { describe: describeApi, routes: openApiRoute },
};

/**
 * Serves an agent, or a map of agents, to every client the protocols know.
 *
 * @example
 * ```ts
 * const handler = createAgentHandler(async function* (input) {
 *   yield "Hello ";
 *   yield "world";
 * });
 * export const POST = handler.fetch;
 * ```
 */
export function createAgentHandler(
  agent: AgentLike | AgentMap,
  options: AgentHandlerOptions = {},
): AgentHandler {
  return createHandler(agent, options, parts);
}
