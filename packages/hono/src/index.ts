export { toHonoHandler } from "./to-hono-handler.ts";
export type { ToHonoHandlerOptions } from "./to-hono-handler.ts";
