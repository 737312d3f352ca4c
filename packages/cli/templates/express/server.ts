import type { AddressInfo } from "node:net";
import { createAgentHandler } from "@holodeck/agui";
import { toExpressHandler } from "@holodeck/agui-express";
import express from "express";
import { agent } from "./agent.ts";

const handler = createAgentHandler(agent);

const app = express();
app.use(toExpressHandler(handler));

const server = app.listen(Number(process.env["PORT"] ?? 8000), "127.0.0.1", (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  console.log(`The agent is at http://127.0.0.1:${port}/agui`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close();
    // Lets the runs end; then nothing holds the server open but idle connections.
    void handler.close().then(() => server.closeAllConnections());
  });
}
