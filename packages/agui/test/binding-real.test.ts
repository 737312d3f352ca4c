import type { Message } from "@holodeck/agui-core";
import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { toNodeHandler } from "@holodeck/agui-node";
import { createAdaptorServer } from "@hono/node-server";
import compression from "compression";
import express from "express";
import type { RequestHandler } from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { express4 } from "../../express/test/_express4.ts";
import { listen } from "../../node/test/_listen.ts";
import {
  createFetchClient,
  createHttp1Client,
  createHttp2Client,
  readToEnd,
} from "../../testing/src/vitest/binding/_binding-client.ts";
import type {
  BindingClient,
  ClientAnswer,
  ClientRequest,
} from "../../testing/src/vitest/binding/_binding-client.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, parseSse, typesOf } from "./_helpers.ts";
import type { Deferred } from "./_helpers.ts";

interface Mounted {
  readonly client: BindingClient;
  readonly close: () => Promise<void>;
  /** Nobody behind the handler to answer what it has no route for. */
  readonly isAlone?: boolean;
}

type Mount = (handler: AgentHandler) => Promise<Mounted>;

const hostPage = "the host's page";
const hostMissing = "the host's 404";

async function overHttp1(server: ReturnType<typeof createServer>): Promise<Mounted> {
  const { url, close } = await listen(server);
  const client = createHttp1Client(`${url}/api`);
  return { client, close };
}

/** What a host of plain Node does around our handler: strips its prefix and answers the rest. */
function nodeHost(handler: AgentHandler): (req: IncomingMessage, res: ServerResponse) => void {
  const ours = toNodeHandler(handler);
  return (req, res) => {
    ours(req, res, () => {
      res.statusCode = req.url === "/api/own" ? 200 : 404;
      res.end(req.url === "/api/own" ? hostPage : hostMissing);
    });
  };
}

function onExpress(create: typeof express, ...before: RequestHandler[]): Mount {
  return (handler) => {
    const app = create();
    for (const middleware of before) app.use(middleware);
    app.use("/api", toExpressHandler(handler));
    app.get("/api/own", (_request, response) => void response.send(hostPage));
    app.use((_request, response) => void response.status(404).send(hostMissing));
    return overHttp1(createServer(app));
  };
}

const gzip = { "accept-encoding": "gzip" };
interface Place {
  readonly mount: Mount;
  readonly basePath?: string;
  readonly headers?: Record<string, string>;
  /** Something in front of the handler has read the body. */
  readonly isParsed?: boolean;
}

const mounts: Record<string, Place> = {
  "node, HTTP/1.1": {
    basePath: "/api",
    mount: (handler) => overHttp1(createServer(nodeHost(handler))),
  },
  "node, HTTP/2": {
    basePath: "/api",
    mount: async (handler) => {
      const host = nodeHost(handler) as unknown as Parameters<typeof createHttp2Server>[1];
      const { url, close } = await listen(createHttp2Server(host));
      return { client: createHttp2Client(`${url}/api`), close };
    },
  },
  "Express 5": { mount: onExpress(express) },
  "Express 5 behind express.json()": { mount: onExpress(express, express.json()), isParsed: true },
  "Express 5 behind compression()": { mount: onExpress(express, compression()), headers: gzip },
  "Express 4": { mount: onExpress(express4) },
  "Express 4 behind express.json()": {
    mount: onExpress(express4, express4.json()),
    isParsed: true,
  },
  "Express 4 behind compression()": { mount: onExpress(express4, compression()), headers: gzip },
  "Hono on @hono/node-server": {
    mount: (handler) => {
      const app = new Hono()
        .all("/api/*", toHonoHandler(handler))
        .get("/api/own", (c) => c.text(hostPage))
        .notFound((c) => c.text(hostMissing, 404));
      return overHttp1(
        createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>,
      );
    },
  },
  Fastify: {
    mount: async (handler) => {
      const app = fastify({ forceCloseConnections: true });
      app.get("/api/own", () => hostPage);
      app.register(toFastifyPlugin(handler), { prefix: "/api" });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send(hostMissing));
      const url = await app.listen({ port: 0, host: "127.0.0.1" });
      return { client: createHttp1Client(`${url}/api`), close: () => app.close() };
    },
  },
  "handler.fetch": {
    basePath: "/api",
    mount: async (handler) => ({
      client: createFetchClient("http://example.test/api", (request) => handler.fetch(request)),
      close: async () => undefined,
      isAlone: true,
    }),
  },
};

const textOf = (message: Message | undefined): string =>
  typeof message?.content === "string" ? message.content : "nothing";

const rounds = 10;
const bodyBytes = 20_000;

describe.for(Object.entries(mounts))("on %s", ([, { mount, ...rest }]) => {
  const { basePath = "", headers = {}, isParsed = false } = rest;
  let confirmed: Deferred[];
  let aborted: Deferred<unknown>;
  let handler: AgentHandler;
  let mounted: Mounted;

  beforeAll(async () => {
    handler = createAgentHandler(
      {
        async *lockstep() {
          for (const [index, { promise }] of confirmed.entries()) {
            yield `delta ${index}`;
            await promise;
          }
        },
        async hang(_input, { emit, signal }) {
          await emit.text("hello?");
          await new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => resolve());
          });
          aborted.resolve(signal.reason);
        },
        async echo(input) {
          return `heard ${textOf(input.messages[0])}`;
        },
      },
      { logger: memoryLogger(), limits: { bodyBytes }, basePath },
    );
    mounted = await mount(handler);
  });
  afterAll(async () => {
    mounted.client.close();
    await mounted.close();
    await handler.close();
  });

  const send = (request: ClientRequest): ReturnType<BindingClient["send"]> =>
    mounted.client.send({ ...request, headers: { ...headers, ...request.headers } });

  function run(agentId: string, more: object = {}): ReturnType<BindingClient["send"]> {
    const body = { agentId, protocolVersion: "1.0", messages: [], ...more };
    return send({
      path: "/agui",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    });
  }

  async function expectToServe(): Promise<void> {
    const answer = await run("echo", { messages: [{ role: "user", content: "ünï" }] }).answer;
    expect(answer.status).toBe(200);
    expect((await readToEnd(answer)).toString()).toContain("heard ünï");
  }

  test("every delta arrives before the next one is made", async () => {
    confirmed = Array.from({ length: rounds }, () => deferred());
    const answer = await run("lockstep").answer;
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("text/event-stream");
    expect(answer.header("cache-control")).toBe("no-cache, no-transform");
    let text = "";
    for (const [index, { resolve }] of confirmed.entries()) {
      text = await readUntil(answer, text, `"delta ${index}"`);
      expect(text).not.toContain(`"delta ${index + 1}"`);
      resolve();
    }
    text += (await readToEnd(answer)).toString();
    expect(typesOf(parseSse(text))).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      ...confirmed.map(() => "TEXT_MESSAGE_CONTENT"),
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test("a client that leaves reaches the agent's signal", async () => {
    aborted = deferred();
    const call = run("hang");
    await readUntil(await call.answer, "", "hello?");
    call.leave();
    expect(await aborted.promise).toMatchObject({ code: "disconnected" });
    await expectToServe();
  });

  test("what is not ours is the host's", async () => {
    const missing = await send({ path: "/nothing/here" }).answer;
    expect(missing.status).toBe(404);
    const text = (await readToEnd(missing)).toString();
    if (mounted.isAlone) return expect(JSON.parse(text)).toMatchObject({ code: "not-found" });
    expect(text).toBe(hostMissing);
    const own = await send({ path: "/own" }).answer;
    expect([own.status, (await readToEnd(own)).toString()]).toEqual([200, hostPage]);
    const body = Buffer.from('{"for":"nobody"}');
    const type = { "content-type": "application/json" };
    const posted = await send({ path: "/none", method: "POST", headers: type, body }).answer;
    expect([posted.status, (await readToEnd(posted)).toString()]).toEqual([404, hostMissing]);
    await expectToServe();
  });

  test("a body that is too large is refused by its length, and the next one is served", async () => {
    const content = "x".repeat(bodyBytes);
    const answer = await run("echo", { messages: [{ role: "user", content }] }).answer;
    expect(answer.status).toBe(413);
    expect(JSON.parse((await readToEnd(answer)).toString())).toMatchObject({
      code: "payload-too-large",
    });
    await expectToServe();
  });

  test("a body that is too large is refused in the middle, and the next one is served", async () => {
    let sent = 0;
    async function* upload(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"messages":[],"x":"');
      for (; sent < 64 * 1024 * 1024; sent += 8_192) yield Buffer.alloc(8_192, "x");
      yield Buffer.from('"}');
    }
    const type = { "content-type": "application/json" };
    const { answer } = send({ path: "/agui", method: "POST", headers: type, body: upload() });
    expect((await answer).status).toBe(413);
    // A parser in front swallows the rest before it refuses.
    if (!isParsed) expect(sent).toBeLessThan(64 * 1024 * 1024);
    await expectToServe();
  });

  test("a bad request gets its problem, and the next one is served", async () => {
    const answer = await run("echo", { messages: 7 }).answer;
    expect(answer.status).toBe(400);
    expect(answer.header("content-type")).toMatch(/^application\/problem\+json/);
    expect(JSON.parse((await readToEnd(answer)).toString())).toMatchObject({
      code: "invalid-request",
      errors: [{ path: "messages" }],
    });
    await expectToServe();
  });

  test("an agent that is not there is a 404, and the next one is served", async () => {
    const answer = await run("nobody").answer;
    expect(answer.status).toBe(404);
    expect(JSON.parse((await readToEnd(answer)).toString())).toMatchObject({
      code: "agent-not-found",
    });
    await expectToServe();
  });
});

async function readUntil(answer: ClientAnswer, start: string, wanted: string): Promise<string> {
  let text = start;
  while (!text.includes(wanted)) {
    const part = await answer.read();
    if (!part) throw new Error(`The answer ended before ${wanted}.`);
    text += Buffer.from(part).toString();
  }
  return text;
}
