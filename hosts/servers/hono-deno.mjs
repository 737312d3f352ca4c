import { Hono } from "hono";
import { createApp, toHonoHandler } from "../app.edge.mjs";

const app = new Hono().all("/api/*", toHonoHandler(createApp()));
const [port] = Deno.args;

Deno.serve({ port: Number(port), hostname: "127.0.0.1" }, app.fetch);
