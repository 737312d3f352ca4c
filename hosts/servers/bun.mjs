import { createApp } from "../app.edge.mjs";

const app = createApp("/api");

Bun.serve({ port: Number(process.env.PORT), hostname: "127.0.0.1", fetch: app.fetch });
