import { toFetch } from "@holodeck/agui-core";
import type { Exchange } from "@holodeck/agui-core";
import { Hono } from "hono";
import type { Context } from "hono";
import { describe, expect, test, vi } from "vitest";
import { toHonoHandler } from "../src/index.ts";

/** Answers with the path it saw, but not below `/own`. */
const handler = {
  async handle(exchange: Exchange): Promise<boolean> {
    if (exchange.path.startsWith("/own")) return false;
    const sink = exchange.reply(200, {});
    sink.write(`${exchange.path} of ${exchange.request.url.pathname}`);
    sink.end();
    return true;
  },
};

async function ask(app: Hono, path: string): Promise<string> {
  return (await app.request(path)).text();
}

describe("the path", () => {
  const handle = toHonoHandler(handler);

  test.for<[string, Hono, string, string]>([
    ["a route", new Hono().all("/api/*", handle), "/api/agui", "/agui"],
    ["a route of several segments", new Hono().all("/v1/api/*", handle), "/v1/api/agui", "/agui"],
    ["a route with a parameter", new Hono().all("/:team/api/*", handle), "/a%2Fb/api/x", "/x"],
    ["a base path", new Hono().basePath("/v1").all("/api/*", handle), "/v1/api/agui", "/agui"],
    ["a sub-app", new Hono().route("/sub", new Hono().all("/*", handle)), "/sub/agui", "/agui"],
    ["middleware for all", new Hono().use(handle), "/agui", "/agui"],
    ["middleware under a path", new Hono().use("/api/*", handle), "/api/agui", "/agui"],
    ["the mount itself", new Hono().all("/api/*", handle), "/api", "/"],
    ["a route without a wildcard", new Hono().all("/api/agui", handle), "/api/agui", "/api/agui"],
    ["an encoded path", new Hono().all("/api/*", handle), "/api/a%2Fb%20c", "/a%2Fb%20c"],
  ])("below %s is what the handler routes by", async ([, app, path, expected]) => {
    expect(await ask(app, path)).toBe(`${expected} of ${path}`);
  });

  test("may be stripped by hand", async () => {
    const app = new Hono().all("/api/agui", toHonoHandler(handler, { prefix: "/api" }));
    expect(await ask(app, "/api/agui")).toBe("/agui of /api/agui");
  });

  test("is stripped by Hono's own mount", async () => {
    const app = new Hono().mount(
      "/api",
      toFetch((exchange) => handler.handle(exchange)),
    );
    expect(await ask(app, "/api/agui")).toContain("/agui of");
  });
});

test("lets the host's own pages through", async () => {
  const app = new Hono();
  app.use(toHonoHandler(handler));
  app.get("/own", (c) => c.text("the host's page"));
  expect(await ask(app, "/own")).toBe("the host's page");
  expect((await app.request("/own/nothing")).status).toBe(404);
});

test("shows the response to Hono's middleware", async () => {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header("x-seen", String(c.res.status));
  });
  app.all("/*", toHonoHandler(handler));
  expect((await app.request("/agui")).headers.get("x-seen")).toBe("200");
});

test("gives Hono what the handler threw", async () => {
  const failing = { handle: () => Promise.reject(new Error("boom")) };
  const app = new Hono().all("/*", toHonoHandler(failing));
  app.onError((error, c) => c.text(`host saw ${error.message}`, 503));
  const response = await app.request("/agui");
  expect([response.status, await response.text()]).toEqual([503, "host saw boom"]);
});

test("passes on the platform's waitUntil, and Hono's context", async () => {
  const work = Promise.resolve();
  let native: unknown;
  const waiting = {
    async handle(exchange: Exchange): Promise<boolean> {
      exchange.waitUntil?.(work);
      ({ native } = exchange.request);
      return false;
    },
  };
  const app = new Hono().all("/*", toHonoHandler(waiting));
  const context = { waitUntil: vi.fn(), passThroughOnException: vi.fn(), props: {} };
  await app.fetch(new Request("http://a.test/"), {}, context);
  expect(context.waitUntil).toHaveBeenCalledExactlyOnceWith(work);
  expect((native as Context).req.url).toBe("http://a.test/");
});
