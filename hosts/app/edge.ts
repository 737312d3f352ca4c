// What hosts without Node's API need.
export { toHonoHandler } from "@holodeck/agui-hono";
export { createApp } from "./app.ts";
