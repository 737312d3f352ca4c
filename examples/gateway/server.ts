import { HttpAgent } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import { fromAbstractAgent } from "@holodeck/agui-adapters/ag-ui";
import { serve } from "@holodeck/agui-node";

/** Serves the AG-UI server at `backend` to the clients of every protocol; port 0 takes any free one. */
export async function start(
  backend: string,
  port = 8000,
): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createAgentHandler(fromAbstractAgent(new HttpAgent({ url: backend })));
  return serve(handler, { port });
}
