export { createNodeExchange } from "./create-node-exchange.ts";
export type { NodeExchangeOptions } from "./create-node-exchange.ts";
export { listen } from "./listen.ts";
export type { Listening, ListenOptions } from "./listen.ts";
export { serve } from "./serve.ts";
export type { ServeOptions, Serving } from "./serve.ts";
export { toNodeHandler } from "./to-node-handler.ts";
export type { NodeHandler, ToNodeHandlerOptions } from "./to-node-handler.ts";
export type { NodeRequest, NodeResponse } from "./types.ts";
