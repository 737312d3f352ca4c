import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { countChunks } from "../lib/count-chunks.mjs";
// @ts-expect-error -- a script without types
import { openSocket, writeRequest } from "../lib/raw-http.mjs";
// @ts-expect-error -- a script without types
import { readAnswer } from "../lib/read-answer.mjs";

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function serve(listener: RequestListener): Promise<number> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("reads one answer after the other on a socket, chunked or with a length", async () => {
  const port = await serve((request, response) => {
    request.resume();
    if (request.url === "/whole") return void response.end("x".repeat(1_000));
    response.write("y".repeat(400));
    setImmediate(() => response.end("0\r\n\r".padStart(600, "y")));
  });
  const socket = await openSocket(port);
  for (const path of ["/whole", "/pieces", "/whole", "/pieces"]) {
    const { bytes } = await readAnswer(socket, writeRequest({ path, body: {} }), []);
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(1_400);
  }
  socket.destroy();
});

test("measures how long a stamped delta was on its way", async () => {
  const port = await serve((_, response) => {
    response.end(`xxxx@${process.hrtime.bigint()}@xxxx mail@example.com`);
  });
  const socket = await openSocket(port);
  const lateMs: number[] = [];
  await readAnswer(socket, writeRequest({ method: "GET", path: "/" }), lateMs);
  expect(lateMs).toHaveLength(1);
  expect(lateMs[0]).toBeGreaterThan(0);
  socket.destroy();
});

test("fails when the answer is a refusal, or is cut", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/no") return void response.writeHead(503).end();
    response.write("begun");
    setImmediate(() => response.destroy());
  });
  for (const [path, message] of [
    ["/no", "503"],
    ["/cut", "Cut after"],
  ]) {
    const socket = await openSocket(port);
    const answer = readAnswer(socket, writeRequest({ method: "GET", path }), []);
    await expect(answer).rejects.toThrow(message);
    socket.destroy();
  }
});

test("gives every request its own ids", () => {
  const body = { threadId: "t<id>", runId: "r<id>" };
  const texts = [1, 2].map(() => writeRequest({ path: "/agui", body }).split("\r\n\r\n")[1]);
  const [first, second] = texts.map((text) => JSON.parse(text) as typeof body);
  expect(first?.threadId.slice(1)).toBe(first?.runId.slice(1));
  expect(first?.runId).not.toBe(second?.runId);
});

test("counts the writes of a chunked answer", () => {
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  expect(countChunks(`${head}5\r\nhello\r\n1a\r\n${"x".repeat(26)}\r\n0\r\n\r\n`)).toBe(2);
  expect(() => countChunks(`${head}5\r\nhello\r\n`)).toThrow("no last chunk");
});
