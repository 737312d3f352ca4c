// Requests that a client library would not send. Each has the answers that it gets, and no byte besides; what follows a
// request with an unclear end is never taken for a request.
import { serve } from "@holodeck/agui-node";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandlerOptions } from "../../src/index.ts";
import { memoryLogger } from "../_helpers.ts";
import { exchangeRaw, parseAnswers } from "../_strict-http.ts";

interface Case {
  readonly what: string;
  readonly sent: string;
  /** The statuses of the answers, in order. */
  readonly statuses: readonly number[];
  /** Of the requests. By default GET. */
  readonly methods?: readonly string[];
}

const body = '{"threadId":"t","messages":[]}';
const host = "host: localhost\r\n";
const close = "connection: close\r\n";
const json = "content-type: application/json\r\n";
const length = `content-length: ${body.length}\r\n`;
const health = `GET /health HTTP/1.1\r\n${host}`;
const last = `${health}${close}\r\n`;
const run = (head: string): string => `POST /agui HTTP/1.1\r\n${host}${json}${head}`;
const chunked = "transfer-encoding: chunked\r\n";
const smuggled = `GET /smuggled HTTP/1.1\r\n${host}${close}\r\n`;
const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const cases: readonly Case[] = [
  {
    what: "three requests at once",
    sent: `${health}\r\n${health}\r\n${last}`,
    statuses: [200, 200, 200],
  },
  {
    what: "HEAD before GET",
    sent: `HEAD /health HTTP/1.1\r\n${host}\r\n${last}`,
    statuses: [200, 200],
    methods: ["HEAD", "GET"],
  },
  {
    what: "HEAD of what is not there",
    sent: `HEAD /none HTTP/1.1\r\n${host}\r\n${last}`,
    statuses: [404, 200],
    methods: ["HEAD", "GET"],
  },
  {
    what: "204 before GET",
    sent: `OPTIONS /agui HTTP/1.1\r\n${host}\r\n${last}`,
    statuses: [204, 200],
    methods: ["OPTIONS", "GET"],
  },
  { what: "HTTP/1.0", sent: `GET /health HTTP/1.0\r\n${host}\r\n`, statuses: [200] },
  { what: "HTTP/1.0 without a host", sent: "GET /health HTTP/1.0\r\n\r\n", statuses: [200] },
  {
    what: "HTTP/1.1 without a host",
    sent: `GET /health HTTP/1.1\r\n${close}\r\n`,
    statuses: [400],
  },
  {
    what: "HTTP/2.0 in words",
    sent: `GET /health HTTP/2.0\r\n${host}${close}\r\n`,
    statuses: [200],
  },
  { what: "no version", sent: "GET /health\r\n\r\n", statuses: [200] },
  {
    what: "a method of small letters",
    sent: `get /health HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [400],
  },
  {
    what: "an unknown method",
    sent: `BREW /health HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [400],
  },
  { what: "a run in chunks", sent: run(`${close}${chunked}\r\n${chunks}`), statuses: [200] },
  {
    what: "a run over HTTP/1.0",
    sent: `POST /agui HTTP/1.0\r\n${json}${length}\r\n${body}`,
    statuses: [200],
  },
  {
    what: "Expect: 100-continue",
    sent: run(`${close}expect: 100-continue\r\n${length}\r\n${body}`),
    statuses: [200],
  },
  {
    what: "another expectation",
    sent: run(`${close}expect: tea\r\n${length}\r\n${body}`),
    statuses: [417],
  },
  {
    what: "a length and chunks",
    sent: run(`${length}${chunked}\r\n${chunks}${smuggled}`),
    statuses: [400],
  },
  {
    what: "chunks and a length of 0",
    sent: run(`content-length: 0\r\n${chunked}\r\n${chunks}${smuggled}`),
    statuses: [400],
  },
  {
    what: "two lengths",
    sent: run(`content-length: 0\r\n${length}\r\n${body}${smuggled}`),
    statuses: [400],
  },
  {
    what: "a negative length",
    sent: run(`content-length: -1\r\n\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "a length with a sign",
    sent: run(`content-length: +5\r\n\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "a length in hexadecimal",
    sent: run(`content-length: 0x1f\r\n\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "a length past all numbers",
    sent: run(`content-length: 99999999999999999999999\r\n\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "chunked twice",
    sent: run(`${chunked}${chunked}\r\n${chunks}${smuggled}`),
    statuses: [400],
  },
  {
    what: "an unknown coding",
    sent: run(`transfer-encoding: chunked, identity\r\n\r\n${chunks}${smuggled}`),
    statuses: [400],
  },
  {
    what: "a coding with a tab",
    sent: run(`transfer-encoding:\tchunkedd\r\n\r\n${chunks}${smuggled}`),
    statuses: [400],
  },
  {
    what: "a chunk size that is none",
    sent: run(`${chunked}\r\nzz\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "a chunk longer than its size",
    sent: run(`${chunked}\r\n1\r\n${body}\r\n0\r\n\r\n${smuggled}`),
    statuses: [400],
  },
  {
    what: "trailers",
    sent: run(`${close}${chunked}trailer: x-late\r\n\r\n${chunks.slice(0, -2)}x-late: 1\r\n\r\n`),
    statuses: [200],
  },
  {
    what: "a body that is announced as too large",
    sent: run(`${close}content-length: 99999999\r\n\r\n`),
    statuses: [413],
  },
  {
    what: "a body of another type",
    sent: `POST /agui HTTP/1.1\r\n${host}${close}content-type: text/plain\r\n${length}\r\n${body}`,
    statuses: [415],
  },
  {
    what: "an upgrade that is not offered",
    sent: `${health}${close}upgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n`,
    statuses: [200],
  },
  {
    what: "an upgrade to HTTP/2",
    sent: `${health}connection: upgrade, close\r\nupgrade: h2c\r\n\r\n`,
    statuses: [200],
  },
  { what: "CONNECT", sent: `CONNECT localhost:1 HTTP/1.1\r\n${host}\r\n`, statuses: [] },
  { what: "a NUL in a header", sent: `${health}${close}x: a\0b\r\n\r\n`, statuses: [400] },
  { what: "a NUL in the path", sent: `GET /a\0b HTTP/1.1\r\n${host}${close}\r\n`, statuses: [400] },
  { what: "a line that is folded", sent: `${health}x: a\r\n b\r\n${close}\r\n`, statuses: [400] },
  { what: "a blank before a colon", sent: `${health}x : a\r\n${close}\r\n`, statuses: [400] },
  {
    what: "an encoded line break in the path",
    sent: `GET /a%0d%0aset-cookie:%20x HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [404],
  },
  {
    what: "dots in the path",
    sent: `GET /agui/../../etc/passwd HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [404],
  },
  {
    what: "encoded dots in the path",
    sent: `GET /agui/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [404],
  },
  {
    what: "a broken % in the path",
    sent: `GET /agui/runs/%zz/events HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [400],
  },
  {
    what: "an absolute address",
    sent: `GET http://evil.example/health HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [200],
  },
  {
    what: "a star",
    sent: `OPTIONS * HTTP/1.1\r\n${host}${close}\r\n`,
    statuses: [404],
    methods: ["OPTIONS"],
  },
  {
    what: "17 KB of headers",
    sent: `${health}${close}x: ${"a".repeat(17_000)}\r\n\r\n`,
    statuses: [431],
  },
  { what: "nothing but line breaks", sent: `\r\n\r\n${last}`, statuses: [200] },
  { what: "TLS", sent: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", statuses: [400] },
];

async function tryAll(options: AgentHandlerOptions = {}): Promise<string[]> {
  const seen: string[] = [];
  const handler = createAgentHandler(async () => "ok", {
    logger: memoryLogger(),
    middleware: [
      {
        name: "paths",
        request(request, next) {
          seen.push(new URL(request.url).pathname);
          return next();
        },
      },
    ],
    ...options,
  });
  const serving = await serve(handler, { port: 0, signals: false });
  const through: string[] = [];
  for (const { what, sent, statuses, methods = statuses.map(() => "GET") } of cases) {
    const received = await exchangeRaw(serving.port, { pieces: [sent] });
    try {
      const { answers, rest } = parseAnswers(received, methods, true);
      const given = answers.map(({ status }) => status);
      if (String(given) !== String(statuses) || rest > 0) {
        through.push(`${what}: ${given.join()} and ${rest} bytes, not ${statuses.join()}`);
      }
    } catch (error) {
      through.push(`${what}: ${String(error)}`);
    }
  }
  if (seen.includes("/smuggled")) through.push("a smuggled request was served");
  await serving.close({ drainMs: 0 });
  return through;
}

test("requests that no library sends are answered by the book, or refused", async () => {
  held("raw requests of HTTP/1.x", cases.length, await tryAll());
});

test("a server that answers something else is noticed", async () => {
  expect(await tryAll({ health: false })).not.toEqual([]);
});
