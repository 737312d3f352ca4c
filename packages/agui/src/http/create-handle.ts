import { isAgentError } from "@holodeck/agui-core";
import { ByteBudget } from "@holodeck/agui-core/internal";
import type { Exchange, ExchangeHandler, Reply } from "@holodeck/agui-core";
import type { Ticker } from "@holodeck/agui-core/internal";
import { answerRequest } from "./answer-request.ts";
import type { AskedRequest } from "./answer-request.ts";
import { stripBase, toRequestId } from "./call.ts";
import { notFound, wantedOf } from "./choose-route.ts";
import { problemReply, toAgentError } from "./problem.ts";
import { RequestLayers } from "./request-layers.ts";
import type { Router } from "./router.ts";
import { sendReply } from "./send-reply.ts";
import { WholeAnswers } from "./whole-answers.ts";
import type { Settings } from "../options/options.ts";
import type { Lifecycle } from "../runs/lifecycle.ts";

interface HandleOptions {
  readonly settings: Settings;
  readonly router: Router;
  readonly ticker: Ticker;
  /** What all clients together may leave unread. */
  readonly unsent: ByteBudget;
  readonly lifecycle: Pick<Lifecycle, "admit" | "isClosing">;
}

type Asked = Pick<AskedRequest, "exchange" | "requestId" | "principal">;

/** The way of one request through a handler: its route, the middleware around it, the reply. */
export function createHandle({
  settings,
  router,
  lifecycle,
  ticker,
  unsent,
}: HandleOptions): ExchangeHandler["handle"] {
  const { basePath, logger, debug, clock, limits } = settings;
  const bodies = new ByteBudget({ maxBytes: limits.bodiesBytes, clock, what: "bodies" });
  const answers = new WholeAnswers({ ticker, clock, limits, unsent });
  const layers = new RequestLayers({ middleware: settings.handlerMiddleware, explain });
  const answering = { settings, bodies, admit: lifecycle.admit, explain };

  function explain(exchange: Exchange, requestId: string, error: unknown): Reply {
    return problemReply(toAgentError(error, { logger, requestId, debug }), {
      // As the client asked for it, with the prefix that a framework has stripped.
      instance: exchange.request.url.pathname,
      requestId,
      typeBase: settings.problemTypeBase,
    });
  }

  function answer(asked: AskedRequest): Promise<Reply> {
    if (layers.isEmpty) return answerRequest(asked, answering);
    return layers.run(asked, () => answerRequest(asked, answering));
  }

  // A path that cannot be decoded or has no route; middleware sees its refusal like any other.
  async function refuse(exchange: Exchange, requestId: string, error: unknown): Promise<Reply> {
    const refusal = explain(exchange, requestId, error);
    return layers.isEmpty ? refusal : layers.run({ exchange, requestId }, async () => refusal);
  }

  function send(asked: Asked, reply: Reply): void {
    const { exchange, requestId } = asked;
    // No connection outlives the handler: the next request on it would be lost. HTTP/2 leaves the header out.
    const isLast = lifecycle.isClosing;
    const options = { requestId, answers, isLast, asked };
    try {
      sendReply(exchange, reply, options);
    } catch (error) {
      if (isAgentError(error))
        return sendReply(exchange, explain(exchange, requestId, error), options);
      // For example invalid response headers; the run behind the response must not wait for a
      // client.
      reply.stream?.discard();
      logger.error({ error, requestId }, "A response could not be sent.");
      throw error;
    }
  }

  return async (exchange) => {
    const path = stripBase(exchange.path, basePath);
    if (path === undefined && !exchange.isLast) return false;
    const requestId = toRequestId(exchange.header("x-request-id"));
    let asked: Asked | undefined;
    let reply: Reply;
    try {
      const match = path === undefined ? undefined : router.match(exchange.method, path);
      const routes = match && wantedOf(match.routes, exchange);
      if (!routes && !exchange.isLast) return false;
      if (!match || !routes) throw notFound(exchange);
      const protocol = routes.length === 1 ? routes[0]!.owner : undefined;
      const request = { exchange, routes, match, requestId, protocol, principal: undefined };
      asked = request;
      reply = await answer(request);
    } catch (error) {
      reply = await refuse(exchange, requestId, error);
    }
    send(asked ?? { exchange, requestId, principal: undefined }, reply);
    return true;
  };
}
