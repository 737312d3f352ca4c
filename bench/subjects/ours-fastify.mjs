// Over Fastify.
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import fastify from "fastify";
import { createSubject } from "./_ours.mjs";

export async function start() {
  const app = fastify({ keepAliveTimeout: 60_000 });
  await app.register(toFastifyPlugin(await createSubject()));
  await app.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
  return app.server.address().port;
}
