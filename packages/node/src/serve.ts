import { assertHandler } from "@holodeck/agui-core";
import { assertOptions } from "@holodeck/agui-core/internal";
import type { ExchangeHandler, Logger } from "@holodeck/agui-core";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "./to-node-handler.ts";

export interface ServeOptions {
  /** 0 takes any free port. By default 8000. */
  port?: number;
  /** By default 127.0.0.1: only this machine. */
  host?: string;
  /** Whether SIGINT and SIGTERM close the server. By default true. */
  signals?: boolean;
  /** Receives failures and warnings about risky settings. By default they are not logged. */
  logger?: Pick<Logger, "warn" | "error">;
}

/** A server that listens. */
export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Stops accepting, lets the runs end, then closes what is left. */
  readonly close: () => Promise<void>;
}

const drainMs = 5_000;
const flushMs = 1_000;
// Against clients that send slowly on purpose; Node's own limits are 60 s, 300 s and 30 s.
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
};

/**
 * Serves a handler on a port, and closes it when the process receives a signal to end.
 *
 * @example
 * ```ts
 * const { url } = await serve(handler, { port: 8000 });
 * ```
 */
export async function serve(
  handler: ExchangeHandler,
  options: ServeOptions = {},
): Promise<Serving> {
  assertHandler("serve", handler);
  assertOptions("serve", options, ["port", "host", "signals", "logger"]);
  const { port = 8000, host = "127.0.0.1", signals = true, logger } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(
      `The port is ${shown(port)}; it must be an integer from 0 to 65535, like { port: 8000 }.`,
    );
  }
  const onError = (error: unknown): void => logger?.error({ err: error }, "The handler failed.");
  const server = createServer(timeouts, toNodeHandler(handler, { onError }));
  await listen(server, port, host);
  if (isWildcard(host)) {
    logger?.warn({ host }, "Listening on every interface: the whole network can reach the agent.");
  }

  let closing: Promise<void> | undefined;
  let forget: (() => void) | undefined;
  const close = (): Promise<void> =>
    (closing ??= shutDown(server, handler).finally(() => forget?.()));
  try {
    await handler.start();
  } catch (error) {
    await close();
    throw error;
  }
  if (signals) forget = closeOnSignals(close, onError);
  const bound = (server.address() as AddressInfo).port;
  return { url: `http://${urlHost(host)}:${bound}`, port: bound, server, close };
}

// Shows a string differently from a number: PORT of the environment is a string.
function shown(port: unknown): string {
  return typeof port === "string" ? `the string ${JSON.stringify(port)}` : String(port);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      reject(error.code === "EADDRINUSE" ? portInUse(port, host, error) : error);
    };
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

function portInUse(port: number, host: string, cause: Error): Error {
  const next = port < 65_535 ? port + 1 : 0;
  return new Error(
    `Port ${port} on ${host} is in use. Try the next one: serve(handler, { port: ${next} }).`,
    { cause },
  );
}

async function shutDown(server: Server, handler: ExchangeHandler): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  try {
    await handler.close({ timeoutMs: drainMs });
  } finally {
    // What has just been answered may still be on its way out; what keeps open is cut.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const cut = setTimeout(() => server.closeAllConnections(), flushMs);
    server.closeIdleConnections();
    await closed;
    clearInterval(idle);
    clearTimeout(cut);
  }
}

function closeOnSignals(close: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isClosing = false;
  const onSignal = (): void => {
    // 128 + SIGINT: the second signal ends the process immediately.
    if (isClosing) process.exit(130);
    isClosing = true;
    close().catch(onError);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return () => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function urlHost(host: string): string {
  if (isWildcard(host)) return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
