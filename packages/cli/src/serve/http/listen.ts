import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "@holodeck/agui";
import type { Exchange } from "@holodeck/agui-core";
import { toNodeHandler } from "@holodeck/agui-node";
import { CliError } from "../../shared/cli-error.ts";

export interface Listening {
  readonly port: number;
  /** Takes no new connections; what is open may end. */
  stopAccepting(): void;
  /** Ends what is still open, after a moment for answers on their way. */
  close(): Promise<void>;
}

// Against clients that send slowly on purpose; Node's own limits are 60 s, 300 s and 30 s.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
};
const flushMs = 500;

/** Listens on a port of this machine. Throws a sentence with another port when it is taken. */
export async function listen(
  app: { handle(exchange: Exchange): Promise<boolean> },
  { host, port, logger }: { host: string; port: number; logger: Logger },
): Promise<Listening> {
  const handler = toNodeHandler(app, {
    // What the agent has no route for may be a file of the page.
    describe: () => ({ isLast: false }),
    onError: (error) => logger.error({ error }, "A request failed."),
  });
  const server = createServer(timeouts, (req, res) => {
    res.setHeader("x-content-type-options", "nosniff");
    handler(req, res);
  });
  await bind(server, port, host);
  let closed: Promise<void> | undefined;
  const stopAccepting = (): void => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
  };
  return {
    port: (server.address() as AddressInfo).port,
    stopAccepting,
    async close() {
      stopAccepting();
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const cut = setTimeout(() => server.closeAllConnections(), flushMs);
      server.closeIdleConnections();
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  try {
    await tryToBind(server, port, host);
  } catch (error) {
    throw await explain(error as NodeJS.ErrnoException, port, host);
  }
}

function tryToBind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function explain(
  error: NodeJS.ErrnoException,
  port: number,
  host: string,
): Promise<CliError> {
  const options = { cause: error };
  if (error.code === "EADDRINUSE") {
    const next = await nextFree(port, host);
    const advice = next === undefined ? "--port 0 takes any" : `--port ${next} is`;
    return new CliError(`Port ${port} on ${host} is in use; ${advice} free.`, options);
  }
  if (error.code === "EACCES") {
    return new CliError(`Port ${port} may not be used by this user; try --port 8000.`, options);
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return new CliError(
      `"${host}" is not an address of this machine; try --host 127.0.0.1.`,
      options,
    );
  }
  return new CliError(`Cannot listen on ${host}, port ${port}: ${error.message}.`, options);
}

async function nextFree(port: number, host: string): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(port + 100, 65_535); next++) {
    const probe = createServer();
    try {
      await tryToBind(probe, next, host);
    } catch {
      // Taken as well.
      continue;
    }
    await new Promise((resolve) => probe.close(resolve));
    return next;
  }
  return undefined;
}
