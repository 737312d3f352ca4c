import type { AgentLike, Protocol } from "@holodeck/agui-core";
import { createHandler } from "./create-handler.ts";
import type { AgentHandler } from "./create-handler.ts";
import type { AgentHandlerOptions } from "./options/options.ts";
import type { AgentMap } from "./runs/agents.ts";

/** The options of `createAgentHandler`, without OpenAPI, and with the protocols that are to be served. */
export interface SlimHandlerOptions extends Omit<AgentHandlerOptions, "openapi" | "protocols"> {
  protocols: readonly Protocol[];
}

/** A handler without the document of OpenAPI. */
export type SlimHandler = Omit<AgentHandler, "openapi">;

/**
 * Serves an agent, or a map of agents, over the protocols that are named: a bundle has no others. There is no OpenAPI
 * document and no protobuf, and `debug` logs nothing without `logging()` among the middleware.
 *
 * @example
 * ```ts
 * import { agui, createAgentHandler } from "@holodeck/agui/slim";
 *
 * const handler = createAgentHandler(agent, { protocols: [agui()] });
 * export default { fetch: handler.fetch };
 * ```
 */
export function createSlimHandler(
  agent: AgentLike | AgentMap,
  options: SlimHandlerOptions,
): SlimHandler {
  const { protocols, openapi } = (options ?? {}) as AgentHandlerOptions;
  if (protocols === undefined) {
    throw new TypeError(
      "createAgentHandler of @holodeck/agui/slim needs protocols, such as { protocols: [agui()] }.",
    );
  }
  if (openapi !== undefined && openapi !== false) {
    throw new TypeError(
      "openapi is not an option of @holodeck/agui/slim, which has no schemas; import createAgentHandler " +
        "from @holodeck/agui.",
    );
  }
  return createHandler(agent, options, {});
}
