import { createAgentHandler } from "@holodeck/agui";
import { agent } from "./agent.ts";
import { createVariants } from "./variants.ts";
import type { App } from "./variants.ts";

/** What every host serves. `base` is the path that the host does not strip. */
export function createApp(base = ""): App {
  return createVariants(base, (options) => createAgentHandler(agent, options));
}
