import { testBinding } from "@holodeck/agui-testing/vitest";
import fastify from "fastify";
import type { FastifyInstance } from "fastify";
import { toFastifyPlugin } from "../src/index.ts";
import { fastify4 } from "./_fastify4.ts";

type Mounted = { url: string; close(): Promise<void> };

async function start(app: FastifyInstance): Promise<Mounted> {
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url: `${url}/api`, close: () => app.close() };
}

const versions = [
  ["Fastify 5", fastify],
  ["Fastify 4", fastify4],
] as const;

for (const [version, create] of versions) {
  testBinding(
    `${version}, HTTP/1.1`,
    async (handler) => {
      const app = create({ forceCloseConnections: true });
      app.register(toFastifyPlugin(handler), { prefix: "/api" });
      return start(app);
    },
    { errors: "host" },
  );

  testBinding(
    `${version}, HTTP/2`,
    async (handler) => {
      const app = create({ http2: true }) as unknown as FastifyInstance;
      app.register(toFastifyPlugin(handler), { prefix: "/api" });
      return { ...(await start(app)), http2: true };
    },
    { errors: "host" },
  );
}
