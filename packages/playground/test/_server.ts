import { allowAnonymous, createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions, AgentLike, AgentMap } from "@holodeck/agui";
import { toNodeHandler } from "@holodeck/agui-node";
import { playgroundFile } from "@holodeck/agui-playground";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** The page and an agent behind it, on a free port. */
export interface TestServer {
  /** With a slash at its end. */
  readonly base: string;
  readonly handler: AgentHandler;
  /** Method and path of every request, in order. */
  readonly requests: readonly string[];
  /** Cuts every connection that is open. */
  cut(): void;
  close(): Promise<void>;
}

/** Serves the page's files, and the handler where there is none. */
export async function startServer(
  agent: AgentLike | AgentMap,
  options: AgentHandlerOptions = {},
): Promise<TestServer> {
  const handler = createAgentHandler(agent, {
    authenticate: allowAnonymous(),
    onDisconnect: { graceMs: 20_000 },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...options,
  });
  const agents = toNodeHandler(handler);
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? "/", "http://localhost");
    requests.push(`${req.method} ${pathname}`);
    const file = req.method === "GET" ? playgroundFile(pathname) : undefined;
    if (!file) return agents(req, res);
    res.writeHead(200, file.headers).end(file.body);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}/`,
    handler,
    requests,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = once(server, "close");
      await handler.close({ timeoutMs: 0 });
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
