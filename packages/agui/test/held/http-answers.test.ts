// Connections with requests one behind the other, sent in pieces, left early or read slowly. A strict parser reads
// every byte, and every answer has the word of its own request in it and of no other.
import { serve } from "@holodeck/agui-node";
import fc from "fast-check";
import { expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../../src/index.ts";
import { memoryLogger } from "../_helpers.ts";
import { exchangeRaw, parseAnswers } from "../_strict-http.ts";

const connections = 300;
const seed = 20_261_118;

/** One request; `{word}` stands for its own word. */
interface Kind {
  readonly method: string;
  readonly path: string;
  readonly headers?: string;
  readonly body?: string;
  /** The body comes in chunks. */
  readonly isChunked?: boolean;
  /** The answer has the request's word in it. */
  readonly isEcho?: boolean;
}

const json = "content-type: application/json\r\n";
const run = JSON.stringify({
  threadId: "{word}",
  runId: "{word}",
  messages: [{ id: "m", role: "user", content: "{word}" }],
});
const ui = JSON.stringify({
  id: "{word}",
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "{word}" }] }],
});

const kinds: readonly Kind[] = [
  { method: "POST", path: "/agui", headers: json, body: run, isEcho: true },
  { method: "POST", path: "/agui", headers: json, body: run, isChunked: true, isEcho: true },
  {
    method: "POST",
    path: "/agui",
    headers: `${json}expect: 100-continue\r\n`,
    body: run,
    isEcho: true,
  },
  {
    method: "POST",
    path: "/agui",
    headers: `${json}accept: application/vnd.ag-ui.event+proto\r\n`,
    body: run,
    isEcho: true,
  },
  { method: "POST", path: "/agui/agent/default/run", headers: json, body: run, isEcho: true },
  { method: "POST", path: "/api/chat", headers: json, body: ui, isEcho: true },
  {
    method: "POST",
    path: "/agent/default/chat",
    headers: json,
    body: '{"message":"{word}"}',
    isEcho: true,
  },
  {
    method: "POST",
    path: "/chat",
    headers: json,
    body: '{"message":"{word}","stream":false}',
    isEcho: true,
  },
  { method: "POST", path: "/agui", headers: json, body: '{"threadId": {word}', isEcho: false },
  { method: "POST", path: "/agui", headers: "content-type: text/plain\r\n", body: "{word}" },
  { method: "GET", path: "/agui/threads/{word}/messages" },
  { method: "GET", path: "/agui/runs/{word}/events" },
  { method: "GET", path: "/{word}", isEcho: true },
  { method: "DELETE", path: "/agui/info" },
  { method: "GET", path: "/health" },
  { method: "HEAD", path: "/health" },
  { method: "OPTIONS", path: "/agui" },
];

function write(
  { method, path, headers = "", body, isChunked }: Kind,
  word: string,
  isLast: boolean,
): string {
  const fill = (text: string): string => text.replaceAll("{word}", word);
  const head = `${method} ${fill(path)} HTTP/1.1\r\nhost: localhost\r\n${headers}`;
  const close = isLast ? "connection: close\r\n" : "";
  if (body === undefined) return `${head}${close}\r\n`;
  const text = fill(body);
  if (!isChunked) return `${head}${close}content-length: ${text.length}\r\n\r\n${text}`;
  const middle = Math.ceil(text.length / 2);
  const chunks = [text.slice(0, middle), text.slice(middle), ""].map(
    (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
  );
  return `${head}${close}transfer-encoding: chunked\r\n\r\n${chunks.join("")}`;
}

const plan = fc.record({
  kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }),
  /** Where the bytes of the requests are cut. */
  cuts: fc.array(fc.nat({ max: 2_000 }), { maxLength: 4 }),
  manners: fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: fc.record({ pauseTurns: fc.integer({ min: 1, max: 20 }) }) },
    { weight: 2, arbitrary: fc.record({ leaveAfter: fc.nat({ max: 4_000 }) }) },
  ),
});

function cut(text: string, places: readonly number[]): string[] {
  const edges = [0, ...new Set(places.filter((at) => at < text.length)), text.length];
  edges.sort((a, b) => a - b);
  return edges.slice(1).map((edge, index) => text.slice(edges[index], edge));
}

const words = /w\d+x\d+z/g;

test("answers of one connection stay whole, in order and apart", async () => {
  const handler = createAgentHandler(
    async function* ({ messages }) {
      const word = JSON.stringify(messages.at(-1)?.content);
      for (let part = 0; part < 20; part++) yield `${word} ${"-".repeat(100)} `;
    },
    { logger: memoryLogger() },
  );
  const serving = await serve(handler, { port: 0, signals: false });
  const through: string[] = [];
  let answered = 0;
  const plans = fc.sample(plan, { seed, numRuns: connections });
  const connectOnce = async (
    { kinds: asked, cuts, manners }: (typeof plans)[number],
    at: number,
  ): Promise<void> => {
    const own = asked.map((_, index) => `w${at}x${index}z`);
    const sent = asked.map((kind, index) => write(kind, own[index]!, index === asked.length - 1));
    const received = await exchangeRaw(serving.port, {
      pieces: cut(sent.join(""), cuts),
      ...manners,
    });
    try {
      const methods = asked.map(({ method }) => method);
      const { answers, rest } = parseAnswers(received, methods, true);
      answered += answers.length;
      if (!("leaveAfter" in manners) && (answers.length !== asked.length || rest > 0)) {
        through.push(`connection ${at}: ${answers.length} of ${asked.length}, ${rest} bytes over`);
      }
      for (const [index, { body }] of answers.entries()) {
        const found = new Set(body.match(words));
        const isMissing = asked[index]!.isEcho === true && !found.has(own[index]!);
        found.delete(own[index]!);
        if (isMissing || found.size > 0)
          through.push(`connection ${at}, ${index}: ${body.slice(0, 200)}`);
      }
    } catch (error) {
      through.push(`connection ${at}: ${String(error)}`);
    }
  };
  // Several at a time, so that what is mixed up between connections is found, too.
  const lanes = Array.from({ length: 10 }, async (_, lane) => {
    for (let at = lane; at < plans.length; at += 10) await connectOnce(plans[at]!, at);
  });
  await Promise.all(lanes);
  expect((await fetch(`${serving.url}/health`)).status).toBe(200);
  await serving.close({ drainMs: 0 });
  expect(answered).toBeGreaterThan(connections);
  held("connections with random requests, cuts and manners", connections, through);
});

test.for([
  [
    "another header with a length",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na",
  ],
  [
    "two ways to find the end",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na",
  ],
  [
    "a chunk that is longer than its size",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
  ],
  ["bytes after the answer", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab"],
  ["a body after 204", "HTTP/1.1 204 No Content\r\n\r\nab"],
  ["an answer to no request", "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"],
  ["a header with a line break", "HTTP/1.1 200 OK\r\nx: a\nb: c\r\ncontent-length: 0\r\n\r\n"],
])("the parser finds %s", ([, text]) => {
  expect(() => parseAnswers(Buffer.from(text!), ["GET"], true)).toThrow("Not HTTP");
});
