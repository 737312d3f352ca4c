import type { Exchange, HandlerMiddleware, Reply, RequestFacts } from "@holodeck/agui-core";

/** A request as middleware receives it: its facts are those that are known so far. */
export type LayerRequest = {
  readonly exchange: Exchange;
  readonly requestId: string;
} & Partial<RequestFacts>;

interface RequestLayersOptions {
  readonly middleware: readonly HandlerMiddleware[];
  /** The reply to an error that a middleware throws. */
  explain(exchange: Exchange, requestId: string, error: unknown): Reply;
}

/** The `request` hooks of middleware around the answer to a request. */
export class RequestLayers {
  readonly isEmpty: boolean;
  readonly #layers: readonly HandlerMiddleware[];
  readonly #explain: RequestLayersOptions["explain"];

  constructor({ middleware, explain }: RequestLayersOptions) {
    this.#layers = middleware.filter((one) => one.request !== undefined);
    this.#explain = explain;
    this.isEmpty = this.#layers.length === 0;
  }

  /** The reply that comes out of all layers. A reply that a layer has replaced is discarded. */
  async run(request: LayerRequest, answer: () => Promise<Reply>): Promise<Reply> {
    const started: Reply[] = [];
    const reply = await this.#chain(request, async () => {
      const made = await answer();
      started.push(made);
      return made;
    });
    // A middleware may have answered something else than the run it was given.
    for (const made of started) {
      if (made.stream && made.stream !== reply.stream) made.stream.discard();
    }
    return reply;
  }

  #chain(request: LayerRequest, answer: () => Promise<Reply>): Promise<Reply> {
    const { exchange, requestId } = request;
    const next = this.#layers.reduceRight<() => Promise<Reply>>(
      (inner, layer) => async () => {
        try {
          return await layer.request!(exchange.request, inner, request as RequestFacts);
        } catch (error) {
          return this.#explain(exchange, requestId, error);
        }
      },
      answer,
    );
    return next();
  }
}
