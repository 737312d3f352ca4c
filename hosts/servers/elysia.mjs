import { Elysia } from "elysia";
import { createApp } from "../app.edge.mjs";

const app = createApp("/api");

new Elysia()
  .all("/api/*", ({ request }) => app.fetch(request), { parse: "none" })
  .listen({ port: Number(process.env.PORT), hostname: "127.0.0.1" });
