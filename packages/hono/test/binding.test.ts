import { testBinding } from "@holodeck/agui-testing/vitest";
import { serve } from "@hono/node-server";
import type { ServerType } from "@hono/node-server";
import { Hono } from "hono";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";
import { toHonoHandler } from "../src/index.ts";

// @hono/node-server prints what breaks a response off; the suite breaks some off on purpose.
// oxlint-disable-next-line no-console
const print = console.error;
vi.spyOn(console, "error").mockImplementation((...values: unknown[]) => {
  if (!String(values[0]).includes("The server ended the response.")) print(...values);
});

function quietly(app: Hono): Hono {
  // Hono's own error handler prints what it gets.
  return app.onError((_error, c) => c.text("failed", 500));
}

async function start(app: Hono): Promise<{ url: string; close(): Promise<void> }> {
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () =>
      resolve(started),
    );
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        (server as Server).closeAllConnections();
      }),
  };
}

testBinding(
  "Hono on @hono/node-server",
  (handler) => start(quietly(new Hono()).all("/api/*", toHonoHandler(handler))),
  { errors: "host" },
);

testBinding(
  "Hono, without a socket",
  async (handler) => {
    const app = quietly(new Hono()).all("/api/*", toHonoHandler(handler));
    const fetch = async (request: Request): Promise<Response> => app.fetch(request);
    return { url: "http://example.test/api", close: async () => undefined, fetch };
  },
  { errors: "host" },
);

testBinding(
  "Hono, behind something that has read the body",
  (handler) => {
    const app = quietly(new Hono());
    app.use(async (c, next) => {
      const type = c.req.header("content-type");
      if (type === "application/json") await c.req.json();
      await next();
    });
    return start(app.all("/api/*", toHonoHandler(handler)));
  },
  { errors: "host" },
);
