import { isAgentError } from "@holodeck/agui-core";
import type { Awaitable, Exchange } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { createServer, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { toNodeHandler } from "../src/index.ts";
import { handlerOf, replyJson } from "./_handler.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

async function serving(
  behaviour: (exchange: Exchange) => Awaitable<void>,
  isHttp2 = false,
): Promise<string> {
  const handle = toNodeHandler(handlerOf(behaviour));
  server = await listen(isHttp2 ? createHttp2Server(handle) : createServer(handle));
  return server.url;
}

/** Answers with the size of what it could read of the body. */
function measuring(maxBytes: number): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const body = await exchange.readAll!(maxBytes);
    replyJson(exchange, { read: body?.length ?? null }, body ? 200 : 413);
  };
}

describe("a body in one piece", () => {
  test("is what was sent, in however many chunks", async () => {
    const url = await serving(async (exchange) => {
      exchange.respond!(200, {}, (await exchange.readAll!(1_000_000))!);
    });
    const property = fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 5_000 })),
      async (parts) => {
        const sent = Buffer.concat(parts);
        const body = new ReadableStream({
          start(controller) {
            for (const part of parts) if (part.length > 0) controller.enqueue(part);
            controller.close();
          },
        });
        const answer = await fetch(url, { method: "POST", body, duplex: "half" } as RequestInit);
        expect(Buffer.from(await answer.arrayBuffer()).equals(sent)).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  test("may have as many bytes as are allowed and not one more", async () => {
    const url = await serving(measuring(100_000));
    const sizeOf = async (size: number): Promise<unknown> =>
      (await fetch(url, { method: "POST", body: "x".repeat(size) })).json();
    expect(await sizeOf(100_000)).toEqual({ read: 100_000 });
    expect(await sizeOf(100_001)).toEqual({ read: null });
    expect(await sizeOf(0)).toEqual({ read: 0 });
  });

  test("is read from a request that was paused", async () => {
    const handle = toNodeHandler(handlerOf(measuring(100)));
    server = await listen(
      createServer((req, res) => {
        req.pause();
        handle(req, res);
      }),
    );
    const answer = await fetch(server.url, { method: "POST", body: "hello" });
    expect(await answer.json()).toEqual({ read: 5 });
  });

  test("that is refused leaves the connection to the next request", async () => {
    await serving(measuring(10));
    const socket = connect(server.port, "127.0.0.1");
    const long = "x".repeat(20_000);
    let received = "";
    socket.on("data", (data) => (received += data.toString()));
    for (const body of [long, "short"]) {
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    }
    await expect.poll(() => received).toContain('{"read":5}');
    expect(received).toContain('{"read":null}');
    socket.destroy();
  });

  test("of a client that leaves in the middle of it is an error with a code", async () => {
    let failed!: (error: unknown) => void;
    const failure = new Promise((resolve) => (failed = resolve));
    const url = await serving((exchange) => void exchange.readAll!(1_000).catch(failed));
    const client = request(url, { method: "POST", headers: { "content-length": 100 } });
    client.on("error", () => undefined).write("half");
    await expect.poll(() => client.socket?.bytesWritten ?? 0).toBeGreaterThan(0);
    client.destroy();
    const error = await failure;
    expect(isAgentError(error) && error.code).toBe("disconnected");
  });
});

describe("an answer in one piece", () => {
  test.for([["Hello"], ["Grüße, 世界 🌍"], [new Uint8Array([0, 200, 255])], [""]] as const)(
    "arrives whole, with its length: %o",
    async ([body]) => {
      const url = await serving((exchange) => void exchange.respond!(201, { "x-a": "b" }, body));
      const answer = await fetch(url);
      expect(answer.status).toBe(201);
      expect(answer.headers.get("x-a")).toBe("b");
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get("content-length")).toBe(String(bytes.length));
      expect(bytes.equals(Buffer.from(body as string))).toBe(true);
    },
  );

  test("to HEAD is its head", async () => {
    const url = await serving((exchange) => void exchange.respond!(200, {}, "Hello"));
    const answer = await fetch(url, { method: "HEAD" });
    expect(answer.headers.get("content-length")).toBe("5");
    expect(await answer.text()).toBe("");
  });

  test("is given once", async () => {
    let second: unknown;
    const url = await serving((exchange) => {
      exchange.respond!(200, {}, "first");
      try {
        exchange.respond!(200, {}, "second");
      } catch (error) {
        second = error;
      }
    });
    expect(await (await fetch(url)).text()).toBe("first");
    expect(String(second)).toContain("called twice");
  });

  test("with headers that cannot be sent leaves the exchange open", async () => {
    const url = await serving((exchange) => {
      expect(() => void exchange.respond!(200, { "x-a": "b\r\nx-c: d" }, "bad")).toThrow();
      exchange.respond!(200, {}, "good");
    });
    expect(await (await fetch(url)).text()).toBe("good");
  });

  test("to a client that has left does no harm", async () => {
    let arrived!: (exchange: Exchange) => void;
    const asked = new Promise<Exchange>((resolve) => (arrived = resolve));
    const url = await serving((exchange) => arrived(exchange));
    const client = request(url).on("error", () => undefined);
    client.end();
    const exchange = await asked;
    const left = new Promise<void>((resolve) => exchange.onLeave(resolve));
    client.destroy();
    await left;
    exchange.respond!(200, {}, "nobody reads this");
  });

  test("goes over HTTP/2 as well", async () => {
    const url = await serving((exchange) => void exchange.respond!(200, {}, "Grüße"), true);
    const session = connectHttp2(url);
    const stream = session.request({ ":path": "/" }).setEncoding("utf8");
    let text = "";
    stream.on("data", (part: string) => (text += part));
    const headers = await new Promise<Record<string, unknown>>((resolve) =>
      stream.once("response", resolve),
    );
    await new Promise((resolve) => stream.once("end", resolve));
    expect(headers["content-length"]).toBe("7");
    expect(text).toBe("Grüße");
    session.destroy();
  });
});

describe("what code in front has done to a request", () => {
  const body = `{"message":"${"é".repeat(50_000)}"}`;

  async function sizeBehind(
    prepare: (req: IncomingMessage) => void,
    most: number,
  ): Promise<unknown> {
    const handle = toNodeHandler(handlerOf(measuring(most)));
    server = await listen(
      createServer((req, res) => {
        prepare(req);
        handle(req, res);
      }),
    );
    const answer = await fetch(server.url, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(5_000),
    });
    return answer.json();
  }

  test.for([
    ["text", (req: IncomingMessage): void => void req.setEncoding("utf8")],
    ["a listener for readable", (req: IncomingMessage): void => void req.on("readable", () => {})],
  ] as const)("changes nothing: %s", async ([, prepare]) => {
    expect(await sizeBehind(prepare, 200_000)).toEqual({ read: Buffer.byteLength(body) });
    await server.close();
    expect(await sizeBehind(prepare, 1_000)).toEqual({ read: null });
  });
});

test("a status that cannot be sent is a 500 and not the end of the process", async () => {
  const url = await serving((exchange) => void exchange.respond!(0, {}, "{}"));
  expect((await fetch(url)).status).toBe(500);
});
