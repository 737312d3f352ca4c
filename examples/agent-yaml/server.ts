import { createAgentHandler } from "@holodeck/agui";
import { loadYamlAgent } from "@holodeck/agui-cli";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("agent.yaml", import.meta.url));

/** Serves `agent.yaml` at `{url}/agui`, in a server of one's own. Port 0 takes any free one. */
export async function start(port = 8000): Promise<Pick<Serving, "url" | "close">> {
  const loaded = await loadYamlAgent(file, process.env);
  const serving = await serve(createAgentHandler(loaded.agent, loaded.options), { port });
  return {
    url: serving.url,
    async close() {
      await serving.close();
      await loaded.close?.();
    },
  };
}
