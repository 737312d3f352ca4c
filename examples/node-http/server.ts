import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgentHandler } from "@holodeck/agui";
import { toNodeHandler } from "@holodeck/agui-node";
import { agent } from "./agent.ts";

/** Starts the server; port 0 takes any free one. */
export async function start(port = 8000): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createAgentHandler(agent);
  const serveAgent = toNodeHandler(handler);

  const server = createServer((request, response) => {
    if (request.url === "/") {
      response.end("The page of this server.\n");
      return;
    }
    // Everything the agent has no route for comes back to us.
    serveAgent(request, response, () => {
      response.statusCode = 404;
      response.end("Not here.\n");
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      // Lets the runs end; then nothing holds the server open but idle connections.
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
