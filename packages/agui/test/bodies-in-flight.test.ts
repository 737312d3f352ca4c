import { toNodeHandler } from "@holodeck/agui-node";
import { fakeClock, settle } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerOptions } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../node/test/_listen.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const MiB = 1024 * 1024;
const limits = { bodyBytes: 4 * MiB, bodiesBytes: 9 * MiB };

interface Serving {
  readonly handler: AgentHandler;
  readonly clock: FakeClock;
  readonly url: string;
  readonly port: number;
  /** A client that sends most of a body, and then nothing. */
  stall(): Promise<Socket>;
}

async function serving(
  options: AgentHandlerOptions = {},
  server: ServerOptions = {},
): Promise<Serving> {
  const clock = fakeClock(1_000_000);
  const handler = createAgentHandler(async () => "ok", {
    clock,
    logger: memoryLogger(),
    limits,
    ...options,
  });
  await handler.start();
  const listener = createServer(server, toNodeHandler(handler));
  const { url, port, close } = await listen(listener);
  onTestFinished(close);
  const stall = async (): Promise<Socket> => {
    const arrived = once(listener, "request");
    const socket = sendMost(port);
    await arrived;
    // The handler has taken its room.
    await settle();
    return socket;
  };
  return { handler, clock, url, port, stall };
}

const text = (bytes: number): string => {
  const said = `{"id":"a","role":"assistant","content":"`;
  const rest = `"}]}`;
  const start = `{"threadId":"t${Math.random()}","runId":"r${Math.random()}","messages":[${said}`;
  return start + "x".repeat(bytes - start.length - rest.length) + rest;
};

function sendMost(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  const head =
    `POST /agui HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n` +
    `content-length: ${4 * MiB}\r\n\r\n`;
  socket.write(head + text(3.9 * MiB));
  return socket;
}

async function send(url: string, bytes: number, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/agui`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: text(bytes),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("bodies of all clients have one limit: more is a 503 with Retry-After before it is read", async () => {
  const { url, port, stall } = await serving();
  const stalled = [await stall(), await stall()];
  expect((await send(url, 3.9 * MiB)).status).toBe(503);
  // Only the head is sent: the answer does not wait for the body.
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /agui HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n` +
      `content-length: ${3 * MiB}\r\n\r\n`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  expect(String(answer)).toMatch(/retry-after: 5\r\n/i);
  expect(String(answer)).toContain("capacity-exceeded");
  // Ordinary requests are not counted.
  expect((await send(url, 60_000)).status).toBe(200);
  // A client that leaves gives its room back.
  stalled[0]!.destroy();
  await expect.poll(async () => (await send(url, 3.9 * MiB)).status).toBe(200);
});

test("a body that took its time makes room for the next", async () => {
  const { url, clock, stall } = await serving();
  const oldest = await stall();
  expect((await send(url, 3.9 * MiB)).status).toBe(200);
  await stall();
  expect((await send(url, 3.9 * MiB)).status).toBe(503);
  await clock.advance(5_000);
  const refused = once(oldest, "data") as Promise<[Buffer]>;
  expect((await send(url, 3.9 * MiB)).status).toBe(200);
  expect(String((await refused)[0])).toMatch(/^HTTP\/1\.1 503 /);
});

test("a caller that fills the limit takes no room from others", async () => {
  const authenticate: AgentHandlerOptions["authenticate"] = ({ headers }) => ({
    id: headers.get("x-user") ?? "ann",
  });
  const { url, stall } = await serving({ authenticate });
  const stalled = [await stall(), await stall()];
  expect((await send(url, 3.9 * MiB)).status).toBe(503);
  const refused = once(stalled[0]!, "data") as Promise<[Buffer]>;
  expect((await send(url, 3.9 * MiB, { "x-user": "ben" })).status).toBe(200);
  expect(String((await refused)[0])).toMatch(/^HTTP\/1\.1 503 /);
  expect((await send(url, 1 * MiB, { "x-user": "cem" })).status).toBe(200);
});

test("a body without a length counts as it arrives", async () => {
  const { url, stall } = await serving();
  await stall();
  await stall();
  expect((await send(url, 3.9 * MiB)).status).toBe(503);
  const body = new Blob([text(3.9 * MiB)]).stream();
  const chunked = { method: "POST", body, duplex: "half" } as RequestInit;
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/agui`, { ...chunked, headers }).catch(() => undefined);
  // Refused while the client still sends: some clients see the answer, some the end of the connection.
  expect(response?.status ?? 503).toBe(503);
  expect((await send(url, 60_000)).status).toBe(200);
});

test("a slow client loses its room when the server's time for requests is over", async () => {
  const { url, stall } = await serving(
    {},
    { requestTimeout: 500, headersTimeout: 500, connectionsCheckingInterval: 50 },
  );
  const stalled = [await stall(), await stall()];
  await Promise.all(stalled.map((socket) => once(socket.resume(), "close")));
  expect((await send(url, 3.9 * MiB)).status).toBe(200);
  expect((await send(url, 3.9 * MiB)).status).toBe(200);
});

test("a body that ends in the middle gives its room back, over fetch", async () => {
  const { handler } = await serving();
  const broken = (): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(MiB));
        controller.error(new Error("gone"));
      },
    });
    const headers = { "content-type": "application/json", "content-length": String(4 * MiB) };
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    return handler.fetch(new Request("http://test.local/agui", init));
  };
  for (let count = 0; count < 10; count++) expect((await broken()).status).toBe(500);
  const whole = await handler.fetch(
    new Request("http://test.local/agui", {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": String(3.9 * MiB) },
      body: text(Math.floor(3.9 * MiB)),
    }),
  );
  expect(whole.status).toBe(200);
});
