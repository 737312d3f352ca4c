import { agui, createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions, AgentLike } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { WebSocketServer } from "ws";
import { counter } from "./agent.ts";
import { ndjson } from "./ndjson.ts";
import { carry } from "./websocket.ts";

export interface StartOptions extends Pick<AgentHandlerOptions, "authenticate" | "onDisconnect"> {
  agent?: AgentLike;
}

/** Serves one agent three ways: AG-UI at `/agui`, lines at `/ndjson`, a WebSocket at `/ws`. */
export async function start(port = 8000, options: StartOptions = {}): Promise<Serving> {
  // Ten seconds for a disconnected client to come back.
  const { agent = counter, onDisconnect = { graceMs: 10_000 }, ...rest } = options;
  const protocols = [agui(), ndjson()];
  const handler = createAgentHandler(agent, { ...rest, protocols, onDisconnect });
  const serving = await serve(handler, { port });

  const sockets = new WebSocketServer({
    server: serving.server,
    path: "/ws",
    maxPayload: 1024 * 1024,
    // Browsers let any page open a socket with the user's cookies; they always send the page's
    // origin.
    verifyClient: ({ origin, req }: { origin?: string; req: { headers: { host?: string } } }) =>
      origin === undefined || new URL(origin).host === req.headers.host,
  });
  sockets.on("connection", (socket, upgrade) => carry(handler, { socket, upgrade }));
  // The server waits for its sockets: they are closed when the handler has ended its runs.
  handler.on("state", (state) => {
    if (state !== "stopped") return;
    for (const socket of sockets.clients) socket.close(1001, "The server is going away.");
  });
  return serving;
}
