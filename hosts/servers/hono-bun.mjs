import { Hono } from "hono";
import { createApp, toHonoHandler } from "../app.edge.mjs";

const app = new Hono().all("/api/*", toHonoHandler(createApp()));

Bun.serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
