import { isAgentError } from "@holodeck/agui-core";
import type { Awaitable, Exchange } from "@holodeck/agui-core";
import { createServer, get } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeExchange, toNodeHandler } from "../src/index.ts";
import type { NodeRequest } from "../src/index.ts";
import { bodyOf, handlerOf, replyJson } from "./_handler.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

type Behaviour = (exchange: Exchange) => Awaitable<boolean | void>;

async function serving(
  behaviour: Behaviour,
  before?: (req: NodeRequest & { body?: unknown }) => Awaitable<void>,
): Promise<Listening> {
  const handle = toNodeHandler(handlerOf(behaviour));
  server = await listen(
    createServer(async (req, res) => {
      await before?.(req);
      handle(req, res);
    }),
  );
  return server;
}

/** Sends bytes as they are, more of them after the first answer, and reads until the server closes. */
function raw(first: string, ...then: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const client = connect(server.port, "127.0.0.1")
      .on("data", (data) => {
        received += data.toString("latin1");
      })
      .once("data", async () => {
        for (const part of then) {
          client.write(part);
          // One turn of the loop for the server to take it, so that it comes in pieces.
          await nextTurn();
          await nextTurn();
        }
      })
      .on("end", () => resolve(received))
      .on("error", reject);
    client.write(first);
  });
}

const describeRequest: Behaviour = (exchange) =>
  replyJson(exchange, { path: exchange.path, url: exchange.request.url.href });

async function seen(requestLine: string, host: string): Promise<unknown> {
  const answer = await raw(`${requestLine} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const body = answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
  return JSON.parse(body);
}

const echo: Behaviour = async (exchange) =>
  replyJson(exchange, { parsed: exchange.parsedBody ?? null, read: await bodyOf(exchange) });

const refuse: Behaviour = async (exchange) => {
  for await (const part of exchange.body()) if (part.byteLength > 0) break;
  replyJson(exchange, { status: 413 }, 413);
};

async function post(before: (req: NodeRequest) => Awaitable<void>): Promise<unknown> {
  const { url } = await serving(echo, before);
  return (await fetch(url, { method: "POST", body: '{"a":1}' })).json();
}

describe("what a request contains", () => {
  test.for([
    ["GET /a?b=1", "example.test:81", "/a", "http://example.test:81/a?b=1"],
    ["GET //evil.test/a", "example.test", "//evil.test/a", "http://example.test//evil.test/a"],
    ["GET /a", "not a host", "/a", "http://localhost/a"],
    ["GET /a", "evil.test/x?", "/a", "http://localhost/a"],
    ["GET /a", "user@evil.test", "/a", "http://localhost/a"],
    ["GET /a", "example.test:99999", "/a", "http://localhost/a"],
    ["GET http://proxy.test/a/b?c", "example.test", "/a/b", "http://example.test/a/b?c"],
    ["GET http://proxy.test", "example.test", "/", "http://example.test/"],
    ["OPTIONS *", "example.test", "*", "http://example.test/*"],
    ["GET /%", "example.test", "/%", "http://example.test/%"],
  ] as const)("%s of host %s is never a surprise", async ([line, host, path, url]) => {
    await serving(describeRequest);
    expect(await seen(line, host)).toEqual({ path, url });
  });

  test("names the client's address and Node's own request", async () => {
    let native: unknown;
    const { url } = await serving((exchange) => {
      ({ native } = exchange.request);
      replyJson(exchange, exchange.request.ip);
    });
    expect(await (await fetch(url)).json()).toBe("127.0.0.1");
    expect((native as IncomingMessage).method).toBe("GET");
  });

  test("joins headers that were sent twice", async () => {
    await serving((exchange) =>
      replyJson(exchange, [exchange.header("x-a"), exchange.header("accept")]),
    );
    const answer = await raw(
      "GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-A: 2\r\nAccept: a/b\r\nAccept: c/d\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toContain('["1, 2","a/b, c/d"]');
  });
});

describe("a body that a parser has touched", () => {
  test("is taken as it was parsed", async () => {
    const answer = await post(async (req) => {
      let text = "";
      for await (const part of req) text += part;
      req.body = JSON.parse(text);
    });
    expect(answer).toEqual({ parsed: { a: 1 }, read: "" });
  });

  test("is read after all when the parser passed it by and left an empty object", async () => {
    const answer = await post((req) => {
      req.body = {};
    });
    expect(answer).toEqual({ parsed: null, read: '{"a":1}' });
  });

  test.for([
    ["bytes", Buffer.from("bytes")],
    ["text", "text"],
  ])("is read from the %s a parser left", async ([expected, body]) => {
    const answer = await post(async (req) => {
      for await (const part of req) void part;
      req.body = body;
    });
    expect(answer).toEqual({ parsed: null, read: expected });
  });
});

describe("a body that is not read to its end", () => {
  test("closes the connection, after the answer and not before", async () => {
    await serving(refuse);
    const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
    // Resolves only when the server closes, though the body never comes to its end.
    const answer = await raw(`${head}the first bytes`);
    expect(answer).toContain("HTTP/1.1 413");
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(answer).toContain('{"status":413}');
  });

  test("reaches a client that looks for its answer only after it has sent everything", async () => {
    await serving(refuse);
    const size = 20 * 1024 * 1024;
    const answer = await new Promise<string>((resolve, reject) => {
      let received = "";
      const client = connect(server.port, "127.0.0.1").on("error", reject);
      client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
      client.write(new Uint8Array(size), () => {
        client.on("data", (data) => (received += data.toString("latin1")));
        client.on("end", () => resolve(received));
      });
    });
    expect(answer).toContain("HTTP/1.1 413");
    expect(answer).toContain('{"status":413}');
  });

  test("does not keep fetch from its answer", async () => {
    const { url } = await serving(refuse);
    const body = new Uint8Array(20 * 1024 * 1024);
    const first = await fetch(url, { method: "POST", body });
    expect(first.status).toBe(413);
    expect(await first.json()).toEqual({ status: 413 });
    const second = await fetch(url, { method: "POST", body });
    expect(second.status).toBe(413);
  });

  test.for<[string, Behaviour]>([
    ["nobody reads", (exchange) => replyJson(exchange, "done", 401)],
    ["is begun and not finished", refuse],
  ])("leaves the connection open when it is short and %s", async ([, behaviour]) => {
    await serving(behaviour);
    const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n";
    const body = "x".repeat(60_000);
    // The first answer comes before the rest of the first body.
    const rest = [body.slice(3, 30_000), body.slice(30_000)];
    const next = `${head}Connection: close\r\n\r\n${body}`;
    const answer = await raw(`${head}\r\n${body.slice(0, 3)}`, ...rest, next);
    expect(answer.match(/HTTP\/1.1 4/g)).toHaveLength(2);
  });

  test("leaves no stream of HTTP/2 behind", async () => {
    const http2 = createHttp2Server(toNodeHandler(handlerOf(refuse)));
    const closed = new Promise<void>((resolve) => {
      http2.on("stream", (stream) => stream.on("close", resolve));
    });
    server = await listen(http2);
    const session = connectHttp2(server.url);
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    stream.end(new Uint8Array(5 * 1024 * 1024));
    await closed;
    session.destroy();
  });
});

test("reports that the client left when it left in the middle of its body", async () => {
  let report: ((error: unknown) => void) | undefined;
  const error = new Promise<unknown>((resolve) => {
    report = resolve;
  });
  await serving(async (exchange) => {
    try {
      for await (const part of exchange.body()) if (part.byteLength > 0) client.destroy();
    } catch (reason) {
      report?.(reason);
    }
    return false;
  });
  const client = connect(server.port, "127.0.0.1");
  client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome");
  const reason = await error;
  expect(isAgentError(reason) && reason.code).toBe("disconnected");
});

test("is answered once", async () => {
  let second: unknown;
  const { url } = await serving((exchange) => {
    const sink = exchange.reply(200, {});
    try {
      exchange.reply(200, {});
    } catch (error) {
      second = error;
    }
    sink.end();
  });
  await fetch(url);
  expect(String(second)).toContain("called twice");
});

test("keeps headers that belong to one connection off HTTP/2", async () => {
  const handler = handlerOf((exchange) =>
    exchange.reply(200, { connection: "close", "Keep-Alive": "timeout=5", "x-a": "1" }).end(),
  );
  server = await listen(createHttp2Server(toNodeHandler(handler)));
  const session = connectHttp2(server.url);
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    session.request({ ":path": "/" }).on("response", resolve).on("error", reject);
  });
  session.destroy();
  expect(headers).toMatchObject({ ":status": 200, "x-a": "1" });
  expect(Object.keys(headers)).not.toContain("keep-alive");
  expect(Object.keys(headers)).not.toContain("connection");
});

test("takes what a framework knows better", async () => {
  server = await listen(
    createServer((req, res) => {
      const options = { path: "/p", ip: "10.0.0.1", protocol: "https", native: "n", parsedBody: 1 };
      const { path, request, parsedBody } = createNodeExchange(req, res, options);
      const { ip, native } = request;
      res.end(JSON.stringify({ path, ip, native, parsedBody, protocol: request.url.protocol }));
    }),
  );
  expect(await (await fetch(server.url)).json()).toEqual({
    path: "/p",
    ip: "10.0.0.1",
    protocol: "https:",
    native: "n",
    parsedBody: 1,
  });
});

test.each([
  ["/a/b", undefined, ""],
  ["/a/b?", undefined, "?"],
  ["/a/b?x=1&y=%20%C3%BC", undefined, "?x=1&y=%20%C3%BC"],
  ["/a/b??x", undefined, "??x"],
  ["/a?x=/b?c", undefined, "?x=/b?c"],
  ["/a?x=1#y", undefined, "?x=1"],
  ["/a#y?x=1", undefined, ""],
  ["http://host/a?x=1", undefined, "?x=1"],
  // A framework that mounts strips `url` and leaves the address in `originalUrl`.
  ["/b", "/a/b?x=1", "?x=1"],
  ["/b", "/a/b", ""],
])("of %s, from %s, the query is %j, as in its URL", async (target, originalUrl, query) => {
  server = await listen(
    createServer((req, res) => {
      if (originalUrl !== undefined) Object.assign(req, { originalUrl });
      const exchange = createNodeExchange(req, res);
      const { searchParams } = exchange.request.url;
      const isSame = String(new URLSearchParams(exchange.query)) === String(searchParams);
      res.end(JSON.stringify({ query: exchange.query, isSame }));
    }),
  );
  const { hostname, port } = new URL(server.url);
  const said = await new Promise<string>((resolve, reject) => {
    get({ hostname, port, path: target }, (res) => {
      let text = "";
      res.on("data", (chunk) => (text += String(chunk)));
      res.on("end", () => resolve(text));
    }).on("error", reject);
  });
  expect(JSON.parse(said)).toEqual({ query, isSame: true });
});
