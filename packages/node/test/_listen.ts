import type { Server } from "node:http";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Listens on a free port of the loopback; closing cuts what is still connected. */
export async function listen(server: NetServer | Server): Promise<Listening> {
  // A connection that is not used for long is not closed under a client that is about to use it.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
