import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect as connectHttp2, createSecureServer } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { connect as connectPlain } from "node:net";
import type { Server, Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { RunAgentInput, RunContext } from "@holodeck/agui-core";
import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { toNodeHandler } from "@holodeck/agui-node";
import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { express4 } from "../../express/test/_express4.ts";
import { fastify4 } from "../../fastify/test/_fastify4.ts";
import { listen } from "../../node/test/_listen.ts";
import { makeCertificate } from "../../../scripts/test-support/certificate.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, say } from "./_helpers.ts";

const folder = mkdtempSync(join(tmpdir(), "agui-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const made = makeCertificate(folder, "draining servers of other hosts");
const tls = made && { cert: readFileSync(made.cert), key: readFileSync(made.key) };

const plainHosts: Readonly<Record<string, (handler: AgentHandler) => Promise<Server> | Server>> = {
  "node:http": (handler) => createServer(toNodeHandler(handler)),
  "Express 5": (handler) => createServer(express().use(toExpressHandler(handler))),
  "Express 4": (handler) => createServer(express4().use(toExpressHandler(handler))),
  "Fastify 5": (handler) => onFastify(fastify, handler),
  "Fastify 4": (handler) => onFastify(fastify4, handler),
  Hono(handler) {
    const app = new Hono().all("/*", toHonoHandler(handler));
    return createAdaptorServer({ fetch: app.fetch });
  },
};

async function onFastify(create: typeof fastify, handler: AgentHandler): Promise<Server> {
  const app = create({ forceCloseConnections: true });
  await app.register(toFastifyPlugin(handler));
  await app.ready();
  return app.server;
}

const hosts = [...Object.keys(plainHosts), "node:https"];

/** A server of a host with one run that never ends by itself. */
async function start(mount: (handler: AgentHandler) => Promise<Server> | Server): Promise<{
  handler: AgentHandler;
  clock: FakeClock;
  port: number;
  ran: Promise<void>;
}> {
  const clock = fakeClock();
  const ran = deferred();
  async function* agent(_: RunAgentInput, { signal }: RunContext): AsyncGenerator<string> {
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    yield "begun";
    ran.resolve();
    await stopped;
  }
  const handler = createAgentHandler(agent, { clock, logger: memoryLogger() });
  await handler.start();
  const { port, close } = await listen(await mount(handler));
  onTestFinished(close);
  return { handler, clock, port, ran: ran.promise };
}

const run = (runId: string): string =>
  JSON.stringify({ threadId: runId, runId, messages: [say("hi")], protocolVersion: "1.0" });

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

function post(runId: string, header = ""): string {
  const body = run(runId);
  const type = "content-type: application/json\r\n";
  return `POST /agui HTTP/1.1\r\nhost: localhost\r\n${type}content-length: ${body.length}\r\n${header}\r\n${body}`;
}

/** One connection, kept open by this side. */
async function connect(host: string, port: number): Promise<Socket> {
  const place = { host: "127.0.0.1", port };
  const isSecure = host === "node:https";
  const socket = isSecure
    ? connectTls({ ...place, ca: tls!.cert, servername: "localhost" })
    : connectPlain(place);
  onTestFinished(() => void socket.destroy());
  await once(socket, isSecure ? "secureConnect" : "connect");
  return socket;
}

describe.for(hosts)("a server of %s whose handler is closed", (host) => {
  const mount = plainHosts[host] ?? ((handler) => createHttpsServer(tls!, toNodeHandler(handler)));

  test("answers with 503, ends kept connections, and then long runs", async ({ skip }) => {
    if (host === "node:https" && !tls) return skip();
    const { handler, clock, port, ran } = await start(mount);
    const requests = [get("/ready"), post("late"), get("/agui/info")];
    const kept = await Promise.all(requests.map(() => connect(host, port)));
    for (const socket of kept) {
      socket.write(get("/ready"));
      const [head] = (await once(socket, "data")) as [Buffer];
      expect(String(head)).toMatch(/^HTTP\/1.1 200 /);
      expect(String(head)).not.toMatch(/connection: close/i);
    }
    const streaming = await connect(host, port);
    streaming.write(post("long", "connection: close\r\n"));
    const stream = text(streaming);
    await ran;

    const closing = handler.close({ timeoutMs: 30_000 });
    for (const [index, request] of requests.entries()) {
      const fresh = await connect(host, port);
      for (const socket of [kept[index]!, fresh]) {
        socket.write(request);
        // It resolves when the server has ended the connection.
        const answer = await text(socket);
        expect(answer).toMatch(/^HTTP\/1.1 503 /);
        expect(answer).toMatch(/\r\nconnection: close\r\n/i);
        expect(answer).toContain("shutting");
      }
    }

    await clock.advance(30_000);
    expect(await stream).toMatch(/RUN_ERROR.*shutting-down/);
    await closing;
  });
});

test.runIf(tls)("HTTP/2 has no header for the connection, and its streams end", async () => {
  const { handler, clock, port, ran } = await start((one) =>
    createSecureServer(tls!, toNodeHandler(one) as never),
  );
  const session = connectHttp2(`https://localhost:${port}`, { ca: tls!.cert });
  onTestFinished(() => session.destroy());
  const stream = ask(session, "/agui", run("long"));
  await ran;
  const closing = handler.close({ timeoutMs: 30_000 });
  for (const body of [undefined, run("late")]) {
    const answer = await ask(session, body ? "/agui" : "/ready", body);
    expect(answer.headers[":status"]).toBe(503);
    expect(answer.headers).not.toHaveProperty("connection");
    expect(await answer.body).toContain("shutting");
  }
  await clock.advance(30_000);
  expect(await (await stream).body).toMatch(/RUN_ERROR.*shutting-down/);
  await closing;
});

async function ask(
  session: ClientHttp2Session,
  path: string,
  body?: string,
): Promise<{ headers: object & Record<string, unknown>; body: Promise<string> }> {
  const head = { ":path": path, ":method": body ? "POST" : "GET" };
  const stream = session.request({ ...head, "content-type": "application/json" });
  stream.end(body);
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return { headers, body: text(stream) };
}
