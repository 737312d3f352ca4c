import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { agenticChat } from "./agent.ts";

/** Serves the agent at `{url}/agui` until `close()`, SIGINT or SIGTERM. Port 0 takes any free one. */
export function start(port = 8000): Promise<Serving> {
  return serve(createAgentHandler({ agentic_chat: agenticChat }), { port });
}
