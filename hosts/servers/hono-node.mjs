import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createApp, toHonoHandler } from "../app.node.mjs";

const app = new Hono().all("/api/*", toHonoHandler(createApp()));

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
