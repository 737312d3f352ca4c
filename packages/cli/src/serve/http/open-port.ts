import type { Logger } from "@holodeck/agui";
import type { Exchange } from "@holodeck/agui-core";
import { listen, toNodeHandler } from "@holodeck/agui-node";
import type { Listening, ListenOptions } from "@holodeck/agui-node";
import { CliError } from "../../shared/cli-error.ts";

export interface OpenPort extends Listening {
  /** Takes no new connections; what is open may end. */
  stopAccepting(): void;
  /** Ends what is still open, after a moment for answers on their way. */
  close(): Promise<void>;
}

const flushMs = 500;

/** Listens on a port of this machine. Throws a sentence with another port when it is taken. */
export async function openPort(
  app: { handle(exchange: Exchange): Promise<boolean> },
  { logger, ...place }: ListenOptions & { logger: Logger },
): Promise<OpenPort> {
  const handler = toNodeHandler(app, {
    // What the agent has no route for may be a file of the page.
    describe: () => ({ isLast: false }),
    onError: (error) => logger.error({ error }, "A request failed."),
  });
  const listening = await listen((req, res) => {
    res.setHeader("x-content-type-options", "nosniff");
    handler(req, res);
  }, place).catch(async (error: NodeJS.ErrnoException) => {
    throw await explain(error, place);
  });
  const { server } = listening;
  let closed: Promise<void> | undefined;
  const stopAccepting = (): void => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
  };
  return {
    ...listening,
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

async function explain(
  error: NodeJS.ErrnoException,
  { port, host }: ListenOptions,
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
    try {
      const { server } = await listen(() => {}, { port: next, host });
      await new Promise((resolve) => server.close(resolve));
      return next;
    } catch {
      // Taken as well.
    }
  }
  return undefined;
}
