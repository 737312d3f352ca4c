import { createApp } from "../app.edge.mjs";

const app = createApp("/api");
const [port] = Deno.args;

Deno.serve({ port: Number(port), hostname: "127.0.0.1" }, (request) => app.fetch(request));
