import type { Exchange, ExchangeHandler } from "@holodeck/agui-core";
import fastify from "fastify";
import { describe, expect, test, vi } from "vitest";
import { toFastifyPlugin } from "../src/index.ts";

/** Answers with the path and the body it saw, but not below `/own`. */
const handler: Pick<ExchangeHandler, "handle"> = {
  async handle(exchange: Exchange) {
    if (exchange.path.startsWith("/own")) return false;
    let size = 0;
    for await (const part of exchange.body()) size += part.byteLength;
    const sink = exchange.reply(200, { "content-type": "application/json" });
    const { parsedBody = null, path } = exchange;
    sink.write(JSON.stringify({ path, url: exchange.request.url.pathname, parsedBody, size }));
    sink.end();
    return true;
  },
};

describe("the path", () => {
  test.for([
    ["/api", "/api/agui", "/agui"],
    ["/v1/api/", "/v1/api/agui", "/agui"],
    ["/:team/api", "/a%2Fb/api/x%20y", "/x%20y"],
    ["/api", "/api", "/"],
    ["", "/agui", "/agui"],
  ] as const)("below %s of %s is %s", async ([prefix, url, path]) => {
    const app = fastify();
    app.register(toFastifyPlugin(handler), { prefix });
    const response = await app.inject({ url: `${url}?q=1` });
    expect(response.json()).toMatchObject({ path, url });
  });
});

test("lets the host's own pages and its not-found page through", async () => {
  const app = fastify();
  app.register(toFastifyPlugin(handler));
  app.get("/own", () => "the host's page");
  app.setNotFoundHandler((_request, reply) => reply.code(404).send("the host's 404"));
  expect((await app.inject("/own")).body).toBe("the host's page");
  const missing = await app.inject({ method: "POST", url: "/own/nothing", payload: { a: 1 } });
  expect([missing.statusCode, missing.body]).toEqual([404, "the host's 404"]);
});

test("keeps Fastify's own limits and parsers out of its routes, and out of no others", async () => {
  const app = fastify({ bodyLimit: 10 });
  app.register(toFastifyPlugin(handler), { prefix: "/api" });
  app.post("/own", (request) => ({ host: request.body }));
  const text = JSON.stringify({ message: "longer than ten bytes" });
  const post = {
    method: "POST",
    payload: text,
    headers: { "content-type": "text/x-odd" },
  } as const;
  const ours = await app.inject({ ...post, url: "/api/agui" });
  expect(ours.json()).toMatchObject({ parsedBody: null, size: text.length });
  expect((await app.inject({ ...post, url: "/own" })).statusCode).toBe(415);
  const small = await app.inject({ method: "POST", url: "/own", payload: { a: 1 } });
  expect(small.json()).toEqual({ host: { a: 1 } });
});

test("takes a body that a hook has put there", async () => {
  const app = fastify();
  app.addHook("preHandler", async (request) => {
    request.body = { from: "hook" };
  });
  app.register(toFastifyPlugin(handler));
  const response = await app.inject({ method: "POST", url: "/agui" });
  expect(response.json()).toMatchObject({ parsedBody: { from: "hook" } });
});

test("sends the headers that the host's hooks have set", async () => {
  const app = fastify();
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("access-control-allow-origin", "https://a.test");
  });
  app.register(toFastifyPlugin(handler));
  const response = await app.inject("/agui");
  expect(response.headers["access-control-allow-origin"]).toBe("https://a.test");
});

test("gives Fastify what the handler threw", async () => {
  const app = fastify();
  app.register(toFastifyPlugin({ handle: () => Promise.reject(new Error("boom")) }));
  app.setErrorHandler((error: Error, _request, reply) =>
    reply.code(503).send(`host saw ${error.message}`),
  );
  const response = await app.inject("/agui");
  expect([response.statusCode, response.body]).toEqual([503, "host saw boom"]);
});

test("does not close a handler that is not its own", async () => {
  const close = vi.fn();
  const app = fastify();
  app.register(toFastifyPlugin({ ...handler, close } as Pick<ExchangeHandler, "handle">));
  await app.ready();
  await app.close();
  expect(close).not.toHaveBeenCalled();
});
