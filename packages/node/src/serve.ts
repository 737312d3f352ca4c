import { assertHandler } from "@holodeck/agui-core";
import { assertOptions } from "@holodeck/agui-core/internal";
import type { ExchangeHandler, Logger } from "@holodeck/agui-core";
import { drain } from "./_drain.ts";
import type { DrainTimes } from "./_drain.ts";
import { closeOnSignals } from "./_signals.ts";
import { isWildcard, listen } from "./listen.ts";
import type { Listening } from "./listen.ts";
import { toNodeHandler } from "./to-node-handler.ts";

export interface ServeOptions {
  /** 0 takes any free port. By default 8000. */
  port?: number;
  /** By default 127.0.0.1: only this machine. */
  host?: string;
  /**
   * Whether SIGINT and SIGTERM close the server and then end the process. By default true. With `false`, call
   * `close()` yourself.
   */
  signals?: boolean;
  /**
   * How long closing may take: runs that have not ended shortly before receive `shutting-down`. By default 30 s.
   * Give the process a little more time than this before it is killed.
   */
  drainMs?: number;
  /**
   * How long new connections are answered with 503 after SIGTERM even when no run is left, so that a load balancer
   * notices. By default 1 s.
   */
  noticeMs?: number;
  /** Receives failures and warnings about risky settings. By default they are not logged. */
  logger?: Pick<Logger, "warn" | "error">;
}

/** A server that listens, and how it is closed. */
export interface Serving extends Listening {
  /**
   * Answers new requests with 503 and `Connection: close`, lets the runs end, then closes what is left. `drainMs` is
   * that of `serve` unless given.
   */
  readonly close: (options?: { drainMs?: number }) => Promise<void>;
}

const optionNames = ["port", "host", "signals", "drainMs", "noticeMs", "logger"] as const;

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
  assertOptions("serve", options, optionNames);
  const { port = 8000, host = "127.0.0.1", signals = true, logger } = options;
  const { drainMs = 30_000, noticeMs = 1_000 } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(
      `The port is ${shown(port)}; it must be an integer from 0 to 65535, like { port: 8000 }.`,
    );
  }
  assertMs("drainMs", drainMs);
  assertMs("noticeMs", noticeMs);
  const onError = (error: unknown): void => logger?.error({ err: error }, "The handler failed.");
  const listener = toNodeHandler(handler, { onError });
  let closing: Promise<void> | undefined;
  const listening = await listen(
    (req, res) => {
      // No connection outlives the drain: the next request on it would be lost.
      if (closing) res.setHeader("connection", "close");
      listener(req, res);
    },
    { port, host },
  ).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? portInUse(port, host, error) : error;
  });
  if (isWildcard(host)) {
    logger?.warn({ host }, "Listening on every interface: the whole network can reach the agent.");
  }

  let forget: (() => void) | undefined;
  const begin = (times: DrainTimes): Promise<void> =>
    (closing ??= drain(listening.server, handler, times).finally(() => forget?.()));
  const close: Serving["close"] = ({ drainMs: given = drainMs } = {}) => {
    assertMs("drainMs", given);
    return begin({ drainMs: given, noticeMs: 0 });
  };
  try {
    await handler.start();
  } catch (error) {
    await close();
    throw error;
  }
  if (signals) {
    // Ctrl-C comes from a person; a load balancer is in front of what a SIGTERM ends.
    const onSignal = (signal: NodeJS.Signals): Promise<void> =>
      begin({ drainMs, noticeMs: signal === "SIGTERM" ? noticeMs : 0 });
    forget = closeOnSignals(onSignal, onError);
  }
  return { ...listening, close };
}

function assertMs(name: string, value: number): void {
  if (typeof value === "number" && value >= 0) return;
  throw new RangeError(
    `${name} is ${shown(value)}; it must be a number of milliseconds, like { ${name}: 10_000 }.`,
  );
}

// Shows a string differently from a number: PORT of the environment is a string.
function shown(value: unknown): string {
  return typeof value === "string" ? `the string ${JSON.stringify(value)}` : String(value);
}

function portInUse(port: number, host: string, cause: Error): Error {
  const next = port < 65_535 ? port + 1 : 0;
  return new Error(
    `Port ${port} on ${host} is in use. Try the next one: serve(handler, { port: ${next} }).`,
    { cause },
  );
}
