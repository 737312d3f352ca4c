import { assertHandler, createFetchExchange } from "@holodeck/agui-core";
import {
  answerFetch,
  assertOptions,
  findWaitUntil,
  socketBefore,
  stripMount,
  whenNext,
} from "@holodeck/agui-core/internal";
import type { ExchangeHandler, FetchExchangeOptions } from "@holodeck/agui-core";
import type { QueuedResponse } from "@holodeck/agui-core/internal";
import type { Context, MiddlewareHandler } from "hono";

export interface ToHonoHandlerOptions {
  /** What to strip from the path. By default the part of the route's pattern before `/*`. */
  prefix?: string;
}

/**
 * Serves a handler from Hono. Hono's middleware sees the response; what the handler has no route for
 * goes to `next()`; what fails before an answer goes to `app.onError`.
 *
 * @example
 * ```ts
 * app.all("/api/*", toHonoHandler(handler));
 * ```
 */
export function toHonoHandler(
  handler: Pick<ExchangeHandler, "handle">,
  options: ToHonoHandlerOptions = {},
): MiddlewareHandler {
  assertHandler("toHonoHandler", handler);
  assertOptions("toHonoHandler", options, ["prefix"]);
  return async (c, next) => {
    if (!(await isNext(c))) return new Response(null, { status: clientLeft });
    const made = createFetchExchange(c.req.raw, {
      path: stripMount(new URL(c.req.url).pathname, options.prefix ?? mountOf(c)),
      native: c,
      ip: ipOf(c),
      waitUntil: findWaitUntil([executionOf(c)]),
      ...bodyOf(c),
    });
    const response = await answerFetch((exchange) => handler.handle(exchange), made);
    return response ?? next();
  };
}

// Only a pattern that ends in a wildcard is a mount; `/agui` is a route and stays as it is.
function mountOf(c: Context): string {
  // Of the request, not from "hono/route": that entry is younger than the Hono we accept.
  const pattern = c.req.routePath;
  return pattern.endsWith("*") ? pattern : "";
}

/** Another handler may have read the body; Hono keeps what it read. */
function bodyOf(c: Context): Pick<FetchExchangeOptions, "body"> {
  if (!c.req.raw.bodyUsed) return {};
  return {
    async *body() {
      yield new Uint8Array(await c.req.arrayBuffer());
    },
  };
}

interface NodeEnvironment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  readonly outgoing?: QueuedResponse;
}

// As proxies log it; no client receives it.
const clientLeft = 499;

/** Resolves when the response is the next of its connection: true, or false when its client left before that. */
function isNext(c: Context): boolean | Promise<boolean> {
  const { outgoing } = (c.env ?? {}) as NodeEnvironment;
  const socket = outgoing && socketBefore(outgoing);
  if (!socket) return true;
  return new Promise((resolve) => {
    whenNext(outgoing, socket, { answer: () => resolve(true), leave: () => resolve(false) });
  });
}

/** `@hono/node-server` puts Node's request into the environment. */
function incomingOf(c: Context): NodeEnvironment["incoming"] {
  return (c.env as NodeEnvironment | undefined)?.incoming;
}

function ipOf(c: Context): string | undefined {
  return incomingOf(c)?.socket?.remoteAddress;
}

function executionOf(c: Context): unknown {
  // On Node there is none, and the error that reports this is expensive in short responses.
  if (incomingOf(c)) return undefined;
  try {
    return c.executionCtx;
  } catch {
    // Hono throws where the platform has none.
    return undefined;
  }
}
