import { assertHandler } from "@holodeck/agui-core";
import type { ExchangeHandler } from "@holodeck/agui-core";
import { toNodeHandler } from "@holodeck/agui-node";
import type { IncomingMessage, ServerResponse } from "node:http";

/** What we use of Express's request: the same in 4 and 5, so that no `@types/express` is needed. */
export type ExpressRequest = IncomingMessage & {
  originalUrl?: string;
  body?: unknown;
  /** Both follow the app's `trust proxy`. */
  ip?: string | undefined;
  protocol?: string;
};

/** Fits `app.use` and `router.all` of Express 4 and 5. */
export type ExpressHandler = (
  req: ExpressRequest,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Serves a handler from Express 4 or 5, under any prefix, behind any body parser. What it has no
 * route for goes to `next()`; what fails before an answer goes to `next(error)`.
 *
 * @example
 * ```ts
 * app.use("/api", toExpressHandler(handler));
 * ```
 */
export function toExpressHandler(handler: Pick<ExchangeHandler, "handle">): ExpressHandler {
  assertHandler("toExpressHandler", handler);
  return toNodeHandler(handler, {
    describe: (req) => {
      const { ip, protocol } = req as ExpressRequest;
      return { ip, protocol };
    },
  });
}
