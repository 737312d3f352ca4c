import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAgentHandler, logging, toolFilter } from "@holodeck/agui";
import type { Logger } from "@holodeck/agui";
import { toExpressHandler } from "@holodeck/agui-express";
import express from "express";
import { shopAgent } from "./agent.ts";

export interface StartOptions {
  /** By default JSON lines on standard error. */
  logger?: Logger;
}

/** Starts the shop with its agent at `/api/agui`; port 0 takes any free one. */
export async function start(
  port = 8000,
  options: StartOptions = {},
): Promise<{ url: string; close(): Promise<void> }> {
  // The server as it was: a body parser for everything, a page, an API.
  const app = express();
  app.use(express.json());
  app.get("/", (_request, response) => void response.send("The shop."));
  app.post("/api/orders", (request, response) => {
    response.status(201).json({ id: "42", items: request.body.items });
  });

  // What is new.
  const handler = createAgentHandler(shopAgent, {
    middleware: [logging(), toolFilter({ deny: ["check_credit"] })],
    ...options,
  });
  app.use("/api", toExpressHandler(handler));

  // Still reached by whatever the agent has no route for.
  app.use((_request, response) => void response.status(404).json({ error: "Not in this shop." }));

  const server = app.listen(port, "127.0.0.1");
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
