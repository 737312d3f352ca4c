import { agui, copilotkit, createAgentHandler, rest, threads, vercel } from "@holodeck/agui/slim";
import { agent } from "./agent.ts";
import { createVariants } from "./variants.ts";
import type { App } from "./variants.ts";

/** The app by the entry for small bundles, with all protocols. */
export function createApp(base = ""): App {
  return createVariants(base, (options) => {
    const protocols = [agui(), copilotkit(), vercel(), rest(), threads()];
    return createAgentHandler(agent, { ...options, protocols });
  });
}
