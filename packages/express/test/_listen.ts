import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves an app on a free port of the loopback; closing cuts what is still connected. */
export async function listen(app: RequestListener): Promise<Listening> {
  // A connection that is not used for long is not closed under a client that is about to use it.
  const server = createServer({ keepAliveTimeout: 0 }, app);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
