import type { ExchangeHandler } from "@holodeck/agui-core";
import compression from "compression";
import express from "express";
import type { ErrorRequestHandler } from "express";
import { afterEach, describe, expect, test } from "vitest";
import { toExpressHandler } from "../src/index.ts";
import { express4 } from "./_express4.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

type Handle = ExchangeHandler["handle"];

const elsewhere: Handle = async () => false;
const failing: Handle = () => Promise.reject(new Error("boom"));
const one: Handle = async (exchange) => {
  const sink = exchange.reply(200, { "content-type": "text/event-stream" });
  sink.write("data: 1\n\n");
  sink.end();
  return true;
};

// Express tells error handlers by their four parameters.
// oxlint-disable-next-line max-params
const report: ErrorRequestHandler = (error: Error, _req, res, _next) => {
  res.status(503).send(`host saw ${error.message}`);
};

describe.each([
  ["Express 5", express],
  ["Express 4", express4],
] as const)("%s", (_version, create) => {
  test("keeps its own pages when the handler is mounted at the root", async () => {
    const app = create();
    app.use(toExpressHandler({ handle: elsewhere }));
    app.get("/own", (_req, res) => {
      res.send("the host's page");
    });
    server = await listen(app);
    expect(await (await fetch(`${server.url}/own`)).text()).toBe("the host's page");
  });

  test("gets what the handler threw", async () => {
    const app = create();
    app.use(toExpressHandler({ handle: failing })).use(report);
    server = await listen(app);
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([503, "host saw boom"]);
  });

  test("names the client's address, by its own rules for proxies", async () => {
    const app = create();
    app.set("trust proxy", true);
    const handle: Handle = async ({ request }) => {
      seen = [request.ip, request.url.href];
      return false;
    };
    let seen: unknown;
    app.use("/api", toExpressHandler({ handle }));
    server = await listen(app);
    const headers = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    await fetch(`${server.url}/api/agui?x=1`, { headers });
    expect(seen).toEqual(["203.0.113.7", `${server.url.replace("http", "https")}/api/agui?x=1`]);
  });

  test("really compresses where the suite is configured to", async () => {
    const app = create();
    app.use(compression()).use(toExpressHandler({ handle: one }));
    server = await listen(app);
    const response = await fetch(server.url, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await response.text()).toBe("data: 1\n\n");
  });

  // `compression` hands listeners on to its stream, and does not take them off there.
  test("does not gather listeners while it waits for a compressing response", async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning.name);
    process.on("warning", onWarning);
    const text = "x".repeat(64 * 1024);
    const handle: Handle = (exchange) =>
      new Promise((resolve) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        let waits = 0;
        const write = (): void => {
          while (sink.write(text));
          if (++waits < 20) return;
          sink.onDrain = undefined;
          sink.end();
          resolve(true);
        };
        sink.onDrain = write;
        write();
      });
    const app = create();
    app.use(compression()).use(toExpressHandler({ handle }));
    server = await listen(app);
    const response = await fetch(server.url, { headers: { "accept-encoding": "gzip" } });
    expect((await response.text()).length).toBeGreaterThanOrEqual(20 * text.length);
    // A warning is told in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});
