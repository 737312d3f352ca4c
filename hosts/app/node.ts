// The bindings for hosts on Node, in one bundle with the app.
export { toExpressHandler } from "@holodeck/agui-express";
export { toFastifyPlugin } from "@holodeck/agui-fastify";
export { toHonoHandler } from "@holodeck/agui-hono";
export { toNodeHandler } from "@holodeck/agui-node";
export { createApp } from "./app.ts";
