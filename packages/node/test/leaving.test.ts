import type { Exchange } from "@holodeck/agui-core";
import { createServer, request } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeExchange, toNodeHandler } from "../src/index.ts";
import { handlerOf, replyJson } from "./_handler.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

/** A server that keeps every exchange for the test to answer. */
async function waiting(isHttp2 = false): Promise<{ next: () => Promise<Exchange> }> {
  const arrived: Exchange[] = [];
  let wake: (() => void) | undefined;
  const handle = toNodeHandler(
    handlerOf((exchange) => {
      arrived.push(exchange);
      wake?.();
    }),
  );
  server = await listen(isHttp2 ? createHttp2Server(handle) : createServer(handle));
  return {
    async next() {
      while (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return arrived.shift()!;
    },
  };
}

function left(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => exchange.onLeave(resolve));
}

/** Counts how often a listener is called. */
function counting(exchange: Exchange): { readonly calls: number } {
  const count = { calls: 0 };
  exchange.onLeave(() => count.calls++);
  return count;
}

describe("onLeave of an exchange", () => {
  test("reports that the client has left before its answer", async () => {
    const { next } = await waiting();
    const client = request(server.url).on("error", () => undefined);
    client.end();
    const exchange = await next();
    const counts = [counting(exchange), counting(exchange)];
    client.destroy();
    await left(exchange);
    expect(counts).toEqual([{ calls: 1 }, { calls: 1 }]);
  });

  test("reports it to callers that ask afterwards", async () => {
    const { next } = await waiting();
    const client = request(server.url).on("error", () => undefined);
    client.end();
    const exchange = await next();
    const native = exchange.request.native as { socket: NodeJS.EventEmitter };
    client.destroy();
    await new Promise((resolve) => native.socket.once("close", resolve));
    expect(counting(exchange).calls).toBe(1);
  });

  test("reports it in the middle of an answer", async () => {
    const { next } = await waiting();
    const client = request(server.url).on("error", () => undefined);
    client.on("response", (res) => res.on("error", () => undefined).resume());
    client.end();
    const exchange = await next();
    const count = counting(exchange);
    exchange.reply(200, {}).write("half");
    expect(count.calls).toBe(0);
    client.destroy();
    await left(exchange);
    expect(count.calls).toBe(1);
  });

  test("stays silent when everything was answered", async () => {
    const { next } = await waiting();
    const answer = fetch(server.url);
    const exchange = await next();
    const count = counting(exchange);
    replyJson(exchange, { done: true });
    expect(await (await answer).json()).toEqual({ done: true });
    await server.close();
    expect(count.calls).toBe(0);
  });

  test("reports it for a response that waits for its turn on the connection", async () => {
    const exchanges: Exchange[] = [];
    let wake!: () => void;
    const both = new Promise<void>((resolve) => (wake = resolve));
    server = await listen(
      createServer((req, res) => {
        if (exchanges.push(createNodeExchange(req, res)) === 2) wake();
      }),
    );
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /1 HTTP/1.1\r\nhost: x\r\n\r\nGET /2 HTTP/1.1\r\nhost: x\r\n\r\n");
    await both;
    const gone = Promise.all(exchanges.map(left));
    socket.destroy();
    await gone;
  });

  test("reports it for one stream among many on HTTP/2", async () => {
    const { next } = await waiting(true);
    const session = connectHttp2(server.url);
    const [first, second] = [
      session.request({ ":path": "/1" }),
      session.request({ ":path": "/2" }),
    ];
    const exchanges = [await next(), await next()];
    const gone = exchanges.find(({ path }) => path === "/1")!;
    const here = exchanges.find(({ path }) => path === "/2")!;
    const count = counting(here);
    const told = left(gone);
    first.close(8);
    await told;
    expect(count.calls).toBe(0);
    replyJson(here, { done: true });
    await new Promise((resolve) => second.resume().once("end", resolve));
    expect(count.calls).toBe(0);
    session.destroy();
  });
});
