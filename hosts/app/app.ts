import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions } from "@holodeck/agui";
import { silentLogger, toFetch } from "@holodeck/agui-core";
import type { Exchange } from "@holodeck/agui-core";
import { agent } from "./agent.ts";

/** The handlers of a host under test: below its mount, and below a name each with other options. */
const variants: Readonly<Record<string, AgentHandlerOptions>> = {
  "": {},
  "/keep": { onDisconnect: "continue" },
  "/queue": { onBusy: "queue" },
  "/replace": { onBusy: "replace" },
  // The default.
  "/silent": { heartbeatMs: 8_000 },
  "/short": { limits: { runTimeoutMs: 1_000 } },
};

export interface App {
  readonly handle: (exchange: Exchange) => Promise<boolean>;
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** What every host serves. `base` is the path that the host does not strip. */
export function createApp(base = ""): App {
  const handlers = Object.entries(variants).map(([path, options]): [string, AgentHandler] => [
    `${base}${path}`,
    createAgentHandler(agent, {
      basePath: `${base}${path}`,
      heartbeatMs: 500,
      logger: silentLogger,
      ...options,
    }),
  ]);
  const [, main] = handlers[0]!;
  const handlerOf = (path: string): AgentHandler =>
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
