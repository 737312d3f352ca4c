import type { Exchange, Sink } from "@holodeck/agui-core";
import fc from "fast-check";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { toNodeHandler } from "../src/index.ts";
import { handlerOf } from "./_handler.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

async function serving(
  behaviour: (sink: Sink, exchange: Exchange) => void | Promise<void>,
  before?: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<void> {
  const handle = toNodeHandler(
    handlerOf((exchange) => behaviour(exchange.reply(200, { "x-own": "1" }), exchange)),
  );
  server = await listen(
    createServer((req, res) => {
      before?.(req, res);
      handle(req, res);
    }),
  );
}

/** The bytes of an answer, as they stand on the wire. */
function wire(version = "1.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    connect(server.port, "127.0.0.1")
      .on("data", (data) => (received += data.toString("utf8")))
      .on("end", () => resolve(received.slice(received.indexOf("\r\n\r\n") + 4)))
      .on("error", reject)
      .write(`GET / HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  });
}

test("what is written in one tick is one chunk, and in the next another", async () => {
  await serving(async (sink) => {
    sink.write("one ");
    sink.write("two");
    await new Promise((resolve) => setImmediate(resolve));
    sink.write("three");
    sink.end();
  });
  expect(await wire()).toBe("7\r\none two\r\n5\r\nthree\r\n0\r\n\r\n");
});

test("a head, what is sent at once and the end are one write to the socket", async () => {
  let calls = 0;
  await serving(
    (sink) => {
      sink.write("all ");
      sink.write("of it");
      sink.end();
    },
    (req) => {
      const { socket } = req;
      const { _writev: writev, _write: write } = socket;
      socket._writev = (...given) => {
        calls++;
        writev!.apply(socket, given);
      };
      socket._write = (...given) => {
        calls++;
        write.apply(socket, given);
      };
    },
  );
  expect(await wire()).toBe("9\r\nall of it\r\n0\r\n\r\n");
  expect(calls).toBe(1);
});

test("text and bytes keep their order", async () => {
  await serving((sink) => {
    sink.write("a");
    sink.write(new TextEncoder().encode("b"));
    sink.write("c");
    sink.end();
  });
  expect(await wire()).toBe("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n");
});

test("any text arrives whole", async () => {
  let said: readonly string[] = [];
  await serving((sink) => {
    for (const text of said) sink.write(text);
    sink.end();
  });
  const texts = fc.array(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      said = given;
      const response = await fetch(server.url);
      expect(await response.text()).toBe(given.join(""));
    }),
  );
});

test("to HTTP/1.0 it is sent without chunks", async () => {
  await serving((sink) => {
    sink.write("plain");
    sink.end();
  });
  expect(await wire("1.0")).toBe("plain");
});

test("a `write` that was replaced is called", async () => {
  const heard: unknown[] = [];
  await serving(
    (sink) => {
      sink.write("hello");
      sink.end();
    },
    (_, res) => {
      const write = res.write.bind(res);
      res.write = ((chunk: unknown) => {
        heard.push(chunk);
        return write(chunk);
      }) as typeof res.write;
    },
  );
  expect(await wire()).toContain("hello");
  expect(heard).toEqual(["hello"]);
});

test("a socket that is full reports it, and reports when it is not", async () => {
  const heard: string[] = [];
  let done!: () => void;
  const isDone = new Promise<void>((resolve) => (done = resolve));
  await serving((sink) => {
    const much = "x".repeat(1_000_000);
    sink.onDrain = () => {
      heard.push("drained");
      sink.end();
      done();
    };
    heard.push(String(sink.write(much)), String(sink.pending >= much.length));
  });
  const body = await (await fetch(server.url)).text();
  await isDone;
  expect(body.length).toBe(1_000_000);
  expect(heard).toEqual(["false", "true", "drained"]);
});
