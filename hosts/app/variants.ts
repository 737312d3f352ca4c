import type { AgentHandlerOptions } from "@holodeck/agui";
import { silentLogger, toFetch } from "@holodeck/agui-core";
import type { Exchange, ExchangeHandler } from "@holodeck/agui-core";

/** What the handlers of all entries take. */
type Options = Omit<AgentHandlerOptions, "openapi" | "protocols">;

/** The handlers of a host under test: below its mount, and below a name each with other options. */
const variants: Readonly<Record<string, Options>> = {
  "": {},
  "/keep": { onDisconnect: "continue" },
  "/queue": { onBusy: "queue" },
  "/replace": { onBusy: "replace" },
  // The default.
  "/silent": { heartbeatMs: 8_000 },
  "/short": { limits: { runTimeoutMs: 1_000 } },
};

interface Handler extends ExchangeHandler {
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface App {
  readonly handle: (exchange: Exchange) => Promise<boolean>;
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** What every host serves, by handlers of one entry. `base` is the path that the host does not strip. */
export function createVariants(base: string, create: (options: Options) => Handler): App {
  const handlers = Object.entries(variants).map(([path, options]): [string, Handler] => [
    `${base}${path}`,
    create({
      basePath: `${base}${path}`,
      heartbeatMs: 500,
      logger: silentLogger,
      ...options,
    }),
  ]);
  const [, main] = handlers[0]!;
  const handlerOf = (path: string): Handler =>
    handlers.slice(1).find(([prefix]) => path.startsWith(`${prefix}/`))?.[1] ?? main;
  const handle: App["handle"] = (exchange) => handlerOf(exchange.path).handle(exchange);
  return {
    handle,
    fetch: toFetch(handle),
    async start() {
      for (const [, handler] of handlers) await handler.start();
    },
    async close() {
      for (const [, handler] of handlers) await handler.close();
    },
  };
}
