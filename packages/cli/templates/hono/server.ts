import type { Server } from "node:http";
import { createAgentHandler } from "@holodeck/agui";
import { toHonoHandler } from "@holodeck/agui-hono";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { agent } from "./agent.ts";

const handler = createAgentHandler(agent);

const app = new Hono();
app.all("/*", toHonoHandler(handler));

const options = {
  fetch: app.fetch,
  port: Number(process.env["PORT"] ?? 8000),
  hostname: "127.0.0.1",
};
const server = serve(options, ({ port }) => {
  console.log(`The agent is at http://127.0.0.1:${port}/agui`);
}) as Server;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close();
    // Lets the runs end; then nothing holds the server open but idle connections.
    void handler.close().then(() => server.closeAllConnections());
  });
}
