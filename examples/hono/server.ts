import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgentHandler } from "@holodeck/agui";
import { toHonoHandler } from "@holodeck/agui-hono";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { agent } from "./agent.ts";

/** Starts the server; port 0 takes any free one. */
export async function start(port = 8000): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createAgentHandler(agent);

  const app = new Hono();
  // Hono's middleware sees the agent's answers like any other.
  app.use(async (c, next) => {
    await next();
    c.header("x-served-by", "hono");
  });
  app.get("/", (c) => c.text("The page of this server."));
  app.all("/api/*", toHonoHandler(handler));

  const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }) as Server;
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
