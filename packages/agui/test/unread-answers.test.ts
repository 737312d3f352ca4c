import type { AgentFunction, Message } from "@holodeck/agui-core";
import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { toNodeHandler } from "@holodeck/agui-node";
import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { createServer as createHttps } from "node:https";
import { connect } from "node:net";
import type { Server, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../node/test/_listen.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger } from "./_helpers.ts";

const MiB = 1024 * 1024;
// Pairs that a cut at a round number of units would tear apart.
const text = "x🌍y".repeat(700_000);
const route = "/agui/threads/heavy/messages";
const stallMs = 30_000;
// What a response holds while its client reads nothing: a portion, and what Node has of the next.
const held = 256 * 1024;

interface Heavy {
  readonly handler: AgentHandler;
  readonly clock: FakeClock;
  /** How often the thread was read to be answered. */
  readonly made: () => number;
}

/** A handler with a thread of 4 MiB for every caller. */
async function heavy(
  options: AgentHandlerOptions = {},
  agent: AgentFunction = async () => "ok",
): Promise<Heavy> {
  const clock = fakeClock(1_000_000);
  const store = memorySessions();
  let made = 0;
  const messages: Message[] = [{ id: "a", role: "assistant", content: text }];
  for (const principal of ["", "ann", "ben"]) {
    const key = { principal, threadId: "heavy" };
    const session = await store.create(key, { agentId: "default" });
    await store.update(session, { messages });
  }
  const counted = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown => {
        if (name === "get") made++;
        return Reflect.apply(member, target, given);
      };
    },
  });
  const handler = createAgentHandler(agent, {
    sessions: counted,
    clock,
    logger: memoryLogger(),
    ...options,
    limits: { stallMs, ...options.limits },
  });
  await handler.start();
  return { handler, clock, made: () => made };
}

interface Served {
  readonly port: number;
  /** The sockets of the server, in the order in which they came. */
  readonly sockets: readonly Socket[];
}

async function served(server: Server): Promise<Served> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.on("secureConnection", (socket: Socket) => sockets.push(socket));
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { port, sockets };
}

const psk = { psk: Buffer.alloc(16, 7), identity: "test" };
const cipher = { ciphers: "PSK-AES128-GCM-SHA256", maxVersion: "TLSv1.2" as const };

/** Sends text on a connection, and reads nothing of what comes back. */
function ask(port: number, sent: string, isTls = false): Socket {
  const socket = isTls
    ? connectTls({
        port,
        host: "127.0.0.1",
        ...cipher,
        pskCallback: () => psk,
        checkServerIdentity: () => undefined,
      })
    : connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(sent);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const get = (path: string, headers = ""): string =>
  `GET ${path} HTTP/1.1\r\nhost: test\r\n${headers}\r\n`;

/** The sockets of the server have as much unsent as they will have. */
async function isStill(sockets: readonly Socket[]): Promise<void> {
  const sum = (): string => sockets.map(({ writableLength: length }) => length).join();
  await expect.poll(() => sockets.some(({ writableLength: length }) => length > 0)).toBe(true);
  for (let before = "", turns = 0; turns < 50; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (before !== sum()) turns = 0;
    before = sum();
  }
}

describe("a client that reads nothing of a whole answer", () => {
  test.for(["http", "https"])("is disconnected after stallMs, over %s", async (kind) => {
    const { handler, clock } = await heavy();
    const listener = toNodeHandler(handler) as RequestListener;
    const secure = { ...cipher, pskCallback: () => psk.psk, pskIdentityHint: "test" };
    const isTls = kind === "https";
    const server = isTls ? createHttps(secure, listener) : createServer(listener);
    const { port, sockets } = await served(server);
    ask(port, get(route), isTls);
    await expect.poll(() => sockets.length).toBe(isTls ? 2 : 1);
    const socket = sockets.at(-1)!;
    await isStill([socket]);
    expect(socket.writableLength).toBeLessThan(held);
    await clock.advance(stallMs - 1_000);
    expect(socket.destroyed).toBe(false);
    const closed = once(socket, "close");
    await clock.advance(10_000);
    await closed;
  });

  test("is disconnected after stallMs, over HTTP/2", async () => {
    const { handler, clock } = await heavy();
    const server = createHttp2Server(toNodeHandler(handler));
    const { port } = await served(server);
    const client = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => client.destroy());
    const stream = client.request({ ":path": route });
    stream.on("error", () => undefined);
    stream.pause();
    await once(stream, "response");
    // The window of the stream, and no more.
    const closed = once(stream, "close");
    for (let second = 0; second < 60 && !stream.closed; second += 10) await clock.advance(10_000);
    stream.resume();
    await closed;
    expect(stream.rstCode).toBe(8);
  });

  test("is disconnected after stallMs, over fetch", async () => {
    const { handler, clock } = await heavy();
    const response = await handler.fetch(new Request(`http://test.local${route}`));
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(value!.length).toBeLessThan(held);
    await clock.advance(stallMs + 10_000);
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow("ended the response");
  });

  test("is disconnected when it reads no small ones either", async () => {
    const { handler, clock, made } = await heavy();
    const { port, sockets } = await served(createServer(toNodeHandler(handler)));
    ask(port, get("/openapi.json").repeat(900));
    await expect.poll(() => sockets.length).toBe(1);
    await isStill(sockets);
    expect(sockets[0]!.writableLength).toBeLessThan(held);
    const closed = once(sockets[0]!, "close");
    await clock.advance(stallMs + 10_000);
    await closed;
    expect(made()).toBe(0);
  });
});

test("a client that reads slowly receives all of it, over every carrier", async () => {
  const { handler, clock } = await heavy();
  const { port } = await served(createServer(toNodeHandler(handler)));
  const socket = ask(port, get(route, "connection: close\r\n"));
  let received = "";
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    received += piece;
    clock.tick(400);
  });
  socket.resume();
  await once(socket, "close");
  const [head = "", body = ""] = received.split("\r\n\r\n");
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
  expect((JSON.parse(body) as { messages: Message[] }).messages[0]!.content).toBe(text);
  const whole = await handler.fetch(new Request(`http://test.local${route}`));
  expect(await whole.text()).toBe(body);
});

describe("what all clients together leave unread", () => {
  const limits = { unsentBytes: 10 * MiB };

  test("is bounded: more is a 503 with Retry-After, until the oldest has had its time", async () => {
    const { handler, clock } = await heavy({ limits });
    const { port, sockets } = await served(createServer(toNodeHandler(handler)));
    for (let client = 0; client < 2; client++) ask(port, get(route));
    await expect.poll(() => sockets.length).toBe(2);
    await isStill(sockets);
    const url = `http://127.0.0.1:${port}`;
    const refused = await fetch(`${url}${route}`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(((await refused.json()) as { code: string }).code).toBe("capacity-exceeded");
    // Small answers have room.
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    await clock.advance(5_000);
    const [oldest] = sockets;
    const closed = once(oldest!, "close");
    expect((await fetch(`${url}${route}`)).status).toBe(200);
    await closed;
    expect(sockets[1]!.destroyed).toBe(false);
  });

  test("is shared fairly: one caller takes no room from another", async () => {
    const authenticate: AgentHandlerOptions["authenticate"] = ({ headers }) => ({
      id: headers.get("x-user") ?? "ann",
    });
    const { handler } = await heavy({ limits, authenticate });
    const { port, sockets } = await served(createServer(toNodeHandler(handler)));
    for (let client = 0; client < 2; client++) ask(port, get(route));
    await expect.poll(() => sockets.length).toBe(2);
    await isStill(sockets);
    const url = `http://127.0.0.1:${port}${route}`;
    expect((await fetch(url, { headers: { "x-user": "ann" } })).status).toBe(503);
    const closed = once(sockets[0]!, "close");
    const answer = await fetch(url, { headers: { "x-user": "ben" } });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { messages: Message[] }).messages).toHaveLength(1);
    await closed;
  });
});

describe("the snapshots of a client that joins a run", () => {
  /** A run on the heavy thread that goes on until `end` is called. */
  async function joined(
    limits: AgentHandlerOptions["limits"] = {},
  ): Promise<Heavy & Served & { end: () => void }> {
    const began = deferred();
    const ended = deferred();
    const made = await heavy({ limits, onDisconnect: "continue" }, async (_input, { emit }) => {
      void emit.text("a");
      began.resolve();
      await ended.promise;
    });
    onTestFinished(() => ended.resolve());
    const { handler } = made;
    const messages = [
      { id: "a", role: "assistant", content: text },
      { id: "u", role: "user", content: "hi" },
    ];
    const body = JSON.stringify({ threadId: "heavy", runId: "live", messages });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://test.local/agui", { method: "POST", headers, body });
    await (await handler.fetch(request)).body!.cancel();
    await began.promise;
    return {
      ...made,
      end: () => ended.resolve(),
      ...(await served(createServer(toNodeHandler(handler)))),
    };
  }

  const join = get("/agui/runs/live/events");

  test("are written as it reads, and cut after stallMs", async () => {
    const { port, sockets, clock } = await joined();
    ask(port, join);
    await expect.poll(() => sockets.length).toBe(1);
    await isStill(sockets);
    expect(sockets[0]!.writableLength).toBeLessThan(held);
    const closed = once(sockets[0]!, "close");
    await clock.advance(stallMs + 10_000);
    await closed;
  });

  test("count to what all clients leave unread", async () => {
    const { port, sockets } = await joined({ unsentBytes: 6 * MiB });
    for (let client = 0; client < 2; client++) ask(port, join);
    await expect.poll(() => sockets.length).toBe(2);
    await isStill(sockets);
    const late = ask(port, join);
    late.resume();
    await once(late, "close");
    expect(sockets.slice(0, 2).map(({ destroyed }) => destroyed)).toEqual([false, false]);
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}${route}`)).status).toBe(503);
  });

  test("arrive whole when it reads, with characters of two units", async () => {
    const { port, end } = await joined();
    const response = await fetch(`http://127.0.0.1:${port}/agui/runs/live/events`);
    const reading = response.text();
    end();
    const frames = (await reading).split("\n").filter((line) => line.startsWith("data: "));
    const events = frames.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
    const snapshot = events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect((snapshot!["messages"] as Message[])[0]!.content === text).toBe(true);
  });
});

const hosts: Readonly<Record<string, (handler: AgentHandler) => Promise<Server>>> = {
  "node:http": async (handler) => createServer(toNodeHandler(handler)),
  Express: async (handler) => createServer(express().use(toExpressHandler(handler))),
  Fastify: async (handler) => {
    const app = fastify();
    await app.register(toFastifyPlugin(handler));
    await app.ready();
    return app.server;
  },
  "Hono on Node": async (handler) => {
    const { fetch } = new Hono().use(toHonoHandler(handler));
    return createAdaptorServer({ fetch });
  },
};

describe.for(Object.entries(hosts))("on one connection of %s", ([, host]) => {
  test("requests that are sent behind others are made when it is their turn", async () => {
    const { handler, made } = await heavy();
    const { port, sockets } = await served(await host(handler));
    const socket = ask(port, get(route).repeat(900));
    await expect.poll(() => sockets.length).toBe(1);
    await isStill(sockets);
    expect(made()).toBe(1);
    expect(sockets[0]!.writableLength).toBeLessThan(held);
    // Each answer that was read makes room for the next.
    let received = 0;
    socket.on("data", (piece: Buffer) => {
      received += piece.length;
      if (received > 3 * text.length) socket.pause();
    });
    socket.resume();
    await expect.poll(() => made()).toBeGreaterThan(2);
    await isStill(sockets);
    expect(made()).toBeLessThan(8);
  });

  test("thousands of them are answered in their order", async () => {
    const { handler } = await heavy();
    const { port } = await served(await host(handler));
    const count = 3_000;
    const requests = Array.from({ length: count }, (_, at) =>
      get("/health", `x-request-id: r${at}\r\n`),
    );
    const socket = ask(port, requests.join(""));
    let received = "";
    socket.setEncoding("utf8");
    const ids: string[] = [];
    socket.on("data", (piece: string) => {
      received += piece;
      const end = received.lastIndexOf("\r\n");
      for (const [, id] of received.slice(0, end).matchAll(/x-request-id: (r\d+)/gi)) {
        ids.push(id!);
      }
      received = received.slice(end);
    });
    socket.resume();
    await expect.poll(() => ids.length).toBe(count);
    expect(ids).toEqual(Array.from({ length: count }, (_, at) => `r${at}`));
  });
});
