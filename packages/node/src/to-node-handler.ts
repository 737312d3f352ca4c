import { AgentError, assertHandler, toProblem } from "@holodeck/agui-core";
import { socketBefore, whenNext } from "@holodeck/agui-core/internal";
import type { Exchange, ExchangeHandler } from "@holodeck/agui-core";
import { cutOff } from "./_node-sink.ts";
import { createNodeExchange } from "./create-node-exchange.ts";
import type { NodeExchangeOptions } from "./create-node-exchange.ts";
import type { NodeRequest, NodeResponse } from "./types.ts";

export interface ToNodeHandlerOptions {
  /** Additional options of an exchange, when a framework knows more than Node. */
  describe?: (req: NodeRequest) => NodeExchangeOptions;
  /** Sees what the handler threw, when there is no `next` to take it. */
  onError?: (error: unknown) => void;
}

/** `(req, res)` for `createServer`, `(req, res, next)` for anything in the manner of Connect. */
export type NodeHandler = (
  req: NodeRequest,
  res: NodeResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Serves a handler from `node:http`, `https` or `http2`. Where it has no route, `next` is called, or
 * the answer is a 404.
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(handler)).listen(8000);
 * ```
 */
export function toNodeHandler(
  handler: Pick<ExchangeHandler, "handle">,
  options: ToNodeHandlerOptions = {},
): NodeHandler {
  assertHandler("toNodeHandler", handler);
  const { describe, onError } = options;

  return (req, res, next) => {
    // A response that has its socket is the next of its connection, as nearly all are.
    const socket = res.socket ? undefined : socketBefore(res);
    if (socket) whenNext(res, socket, { answer: () => answer(req, res, next) });
    else answer(req, res, next);
  };

  function answer(
    req: NodeRequest,
    res: NodeResponse,
    next: ((error?: unknown) => void) | undefined,
  ): void {
    const isLast = !next;
    const about = describe ? { isLast, ...describe(req) } : isLast ? alone : amongOthers;
    const exchange = createNodeExchange(req, res, about);
    handle(handler, exchange).then(
      (isOurs) => {
        if (isOurs) return;
        if (next) next();
        else if (!res.headersSent) refuse(exchange, notFound(exchange));
      },
      (error: unknown) => {
        // After the head no error can be sent; the connection is cut so that the client notices.
        if (res.headersSent) cutOff(res);
        else if (next) return next(error ?? new Error("The handler failed without a reason."));
        else refuse(exchange, error);
        onError?.(error);
      },
    );
  }
}

// A handler of another make may throw instead of rejecting.
function handle(handler: Pick<ExchangeHandler, "handle">, exchange: Exchange): Promise<boolean> {
  try {
    return Promise.resolve(handler.handle(exchange));
  } catch (error) {
    return Promise.reject(error);
  }
}

// Shared: each is kept as long as its request.
const alone: NodeExchangeOptions = { isLast: true };
const amongOthers: NodeExchangeOptions = { isLast: false };

function notFound({ method, path }: Exchange): AgentError {
  return new AgentError("not-found", `No route matches ${method} ${path}.`);
}

function refuse(exchange: Exchange, error: unknown): void {
  const { status, headers, body } = toProblem(error, { instance: exchange.path });
  const sink = exchange.reply(status, headers);
  sink.write(body);
  sink.end();
}
