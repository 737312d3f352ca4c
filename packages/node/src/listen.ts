import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface ListenOptions {
  /** 0 takes any free port. */
  port: number;
  /** A host name or an IP address of this machine. */
  host: string;
}

/** A server that accepts connections. */
export interface Listening {
  /** Where a program on this machine reaches it: `localhost` when it listens on every interface. */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
}

// Against clients that send slowly on purpose; Node's own limits are 60 s, 300 s and 30 s.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
};

/**
 * Creates a server that disconnects slow clients, and resolves when it listens. Rejects with the error of Node, such
 * as `EADDRINUSE`.
 *
 * @example
 * ```ts
 * const { url, server } = await listen(toNodeHandler(handler), { port: 0, host: "127.0.0.1" });
 * ```
 */
export function listen(
  listener: RequestListener,
  { port, host }: ListenOptions,
): Promise<Listening> {
  const server = createServer(timeouts, listener);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const { port: bound } = server.address() as AddressInfo;
      resolve({ url: `http://${urlHost(host)}:${bound}`, port: bound, server });
    });
  });
}

/** Whether a host stands for every interface of the machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function urlHost(host: string): string {
  if (isWildcard(host)) return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
