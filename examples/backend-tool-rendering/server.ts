import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { snapshot, streamed } from "./agent.ts";

/** Serves both agents at `{url}/agui` until `close()`, SIGINT or SIGTERM. Port 0 takes any free one. */
export function start(port = 8000): Promise<Serving> {
  return serve(createAgentHandler({ streamed, snapshot }), { port });
}
