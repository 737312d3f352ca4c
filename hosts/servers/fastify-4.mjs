import fastify from "fastify-4";
import { createApp, toFastifyPlugin } from "../app.node.mjs";

const app = fastify();
await app.register(toFastifyPlugin(createApp()), { prefix: "/api" });
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
