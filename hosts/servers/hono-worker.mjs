import { Hono } from "hono";
import { createApp, toHonoHandler } from "../app.edge.mjs";

const app = new Hono().all("/api/*", toHonoHandler(createApp()));

export default app;
