import { createAgentHandler } from "@holodeck/agui";
import { extractFiles } from "@holodeck/agui-files";
import { serve } from "@holodeck/agui-node";
import { agent } from "./agent.ts";

/** Starts the server; port 0 takes any free one. */
export async function start(port = 8000): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createAgentHandler(
    { reader: agent },
    { files: extractFiles({ ocr: true, uploads: true }) },
  );
  return serve(handler, { port });
}
