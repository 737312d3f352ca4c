import { toExpressHandler } from "@holodeck/agui-express";
import { toFastifyPlugin } from "@holodeck/agui-fastify";
import { toHonoHandler } from "@holodeck/agui-hono";
import { fakeClock } from "@holodeck/agui-testing";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { AgentError, bearerAuth, cors, createAgentHandler, rateLimit } from "../src/index.ts";
import type { AgentFunction, AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";

const origin = "https://app.example.com";
const headers = { origin };
const body = { threadId: "t", messages: [say("hi")] };
const readable = cors({ origins: [origin] });
const hello: AgentFunction = async () => "hello";
const forever: AgentFunction = async function* (_input, { signal }) {
  yield "…";
  await new Promise((_, reject) => signal.addEventListener("abort", reject));
};

const open: AgentHandler[] = [];
function create(options: AgentHandlerOptions = {}, agent: AgentFunction = hello): AgentHandler {
  const { middleware = [], ...rest } = options;
  const handler = createAgentHandler(agent, {
    logger: memoryLogger(),
    middleware: [readable, ...middleware],
    ...rest,
  });
  open.push(handler);
  return handler;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((handler) => handler.close({ timeoutMs: 20 })));
});

interface Init {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}
const ask = (path: string, init: Init = {}): Request =>
  new Request(`http://t${path}`, { ...init, headers: { ...headers, ...init.headers } });
const run = (more: object = {}, init: Init = {}): Request =>
  post({ ...body, ...more }, { ...init, headers: { ...headers, ...init.headers } });

interface Case {
  readonly status: number;
  readonly code: string;
  readonly path?: string;
  readonly act: () => Promise<Response>;
}

/** Every status that a handler refuses with, from a page of another origin. */
const cases: Readonly<Record<string, Case>> = {
  "a body that is no JSON": {
    status: 400,
    code: "invalid-request",
    act: () => create().fetch(post("{", { headers })),
  },
  "a path that is not valid percent-encoding": {
    status: 400,
    code: "invalid-request",
    path: "/agui/runs/%E0%A4%A/events",
    act: () => create().fetch(ask("/agui/runs/%E0%A4%A/events")),
  },
  "somebody unknown": {
    status: 401,
    code: "authentication-required",
    act: () => create({ middleware: [bearerAuth({ verify: () => null })] }).fetch(run()),
  },
  "somebody who may not": {
    status: 403,
    code: "forbidden",
    act: () => {
      const authenticate = (): never => {
        throw new AgentError("forbidden", "Your plan has no agents.");
      };
      return create({ authenticate }).fetch(run());
    },
  },
  "an agent that is not there": {
    status: 404,
    code: "agent-not-found",
    act: () => create().fetch(run({ agentId: "xyz" })),
  },
  "a run that is not there": {
    status: 404,
    code: "run-not-found",
    path: "/agui/runs/xyz/stop",
    act: () => create().fetch(ask("/agui/runs/xyz/stop", { method: "POST" })),
  },
  "another method": {
    status: 405,
    code: "method-not-allowed",
    act: () => create().fetch(ask("/agui", { method: "DELETE" })),
  },
  "a client that reads nothing we write": {
    status: 406,
    code: "not-acceptable",
    act: () => create().fetch(run({}, { headers: { accept: "text/event-stream;q=0" } })),
  },
  "a thread that is busy": {
    status: 409,
    code: "thread-busy",
    act: async () => {
      const handler = create({}, forever);
      await handler.fetch(run({ runId: "r1" }));
      return handler.fetch(run({ runId: "r2" }));
    },
  },
  "a log that was trimmed": {
    status: 410,
    code: "replay-gone",
    path: "/agui/runs/r1/events",
    act: async () => {
      const handler = create({ limits: { runLogEvents: 5 } }, async (_input, { emit }) => {
        for (let n = 0; n < 50; n++) await emit.custom("count", n);
      });
      await (await handler.fetch(run({ runId: "r1" }))).text();
      return handler.fetch(ask("/agui/runs/r1/events?offset=1"));
    },
  },
  "a body that is too large": {
    status: 413,
    code: "payload-too-large",
    act: () => create({ limits: { bodyBytes: 10 } }).fetch(run()),
  },
  "a body of another kind": {
    status: 415,
    code: "unsupported-media-type",
    act: () => create().fetch(run({}, { headers: { "content-type": "text/plain" } })),
  },
  "one run too many": {
    status: 429,
    code: "capacity-exceeded",
    act: async () => {
      const handler = create({ limits: { maxConcurrentRuns: 1 } }, forever);
      await handler.fetch(run({ threadId: "t1" }));
      return handler.fetch(run({ threadId: "t2" }));
    },
  },
  "one thread too many": {
    status: 429,
    code: "capacity-exceeded",
    act: async () => {
      const handler = create({ limits: { maxSessions: 1 } });
      await (await handler.fetch(run({ threadId: "t1" }))).text();
      return handler.fetch(run({ threadId: "t2" }));
    },
  },
  "runs that come too fast": {
    status: 429,
    code: "rate-limited",
    act: async () => {
      const handler = create({ middleware: [rateLimit({ runs: 1 })] });
      await (await handler.fetch(run())).text();
      return handler.fetch(run());
    },
  },
  "a host's mistake": {
    status: 500,
    code: "internal",
    act: () => {
      const authenticate = (): never => {
        throw new Error("postgres://user:pw@db");
      };
      return create({ authenticate }).fetch(run());
    },
  },
  "a server that starts": {
    status: 503,
    code: "not-ready",
    act: async () => {
      const agent = { run: hello, ready: () => new Promise<void>(() => {}) };
      const handler = createAgentHandler(agent, {
        logger: memoryLogger(),
        middleware: [readable],
      });
      void handler.start();
      return handler.fetch(run());
    },
  },
  ...Object.fromEntries(
    ["POST", "DELETE", "OPTIONS"].map((method): [string, Case] => [
      `${method} to a server that closes`,
      {
        status: 503,
        code: "shutting-down",
        act: async () => {
          const handler = create({}, forever);
          await handler.fetch(run());
          void handler.close({ timeoutMs: 50 });
          expect(handler.state).toBe("shutting_down");
          return handler.fetch(method === "POST" ? run() : ask("/agui", { method }));
        },
      },
    ]),
  ),
  "an authenticate that does not answer": {
    status: 503,
    code: "timeout",
    act: async () => {
      const clock = fakeClock();
      const authenticate = (): Promise<never> => new Promise(() => {});
      const handler = create({ clock, authenticate, limits: { authenticateMs: 1_000 } });
      await handler.start();
      const answer = handler.fetch(run());
      await clock.advance(1_000);
      return answer;
    },
  },
};

describe("a refusal", () => {
  test.for(Object.entries(cases))(
    "of %s is problem details that a page of another origin can read",
    async ([, { status, code, path = "/agui", act }]) => {
      const response = await act();
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("cache-control")).toBe("no-store");
      if (status === 429 || status === 503) {
        expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      const problem = (await response.json()) as Record<string, unknown>;
      expect(problem).toMatchObject({
        type: `https://holodeck.dev/errors/${code}`,
        title: expect.stringMatching(/^([A-Z]\w*)( [A-Z]\w*)*$/) as string,
        status,
        code,
        instance: path,
        requestId: response.headers.get("x-request-id"),
      });
      expect(problem.detail).toEqual(expect.stringMatching(/\S/));
      expect(problem.message).toBe(problem.detail);
      expect(JSON.stringify(problem)).not.toContain("postgres");
    },
  );

  test("is shown for each status that there is", () => {
    const all = [400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 429, 500, 503];
    const tried = new Set(Object.values(cases).map(({ status }) => status));
    expect([...tried].sort((a, b) => a - b)).toEqual(all);
  });

  test("is not there for a page that may not read it", async () => {
    const request = post("{", { headers: { origin: "https://evil.example.com" } });
    const response = await create().fetch(request);
    expect(response.status).toBe(400);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("has a type of the host's own when the host wants that", async () => {
    const handler = create({ problemTypeBase: "https://example.com/problems#" });
    for (const request of [post("{"), new Request("http://t/nowhere")]) {
      const { type, code } = (await (await handler.fetch(request)).json()) as Record<
        string,
        string
      >;
      expect(type).toBe(`https://example.com/problems#${code}`);
    }
    expect(() => create({ problemTypeBase: "errors" })).toThrow("problemTypeBase must be a URL");
  });
});

describe("under a prefix", () => {
  const path = "/my/api/agui";
  const servers: Readonly<Record<string, () => Promise<() => Promise<Response>>>> = {
    async express() {
      const server = express().use("/my/api", toExpressHandler(create())).listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as AddressInfo;
      closing.push(() => new Promise((resolve) => server.close(resolve)));
      return () => fetch(`http://127.0.0.1:${port}${path}?x=1`, { method: "DELETE" });
    },
    async fastify() {
      const app = fastify();
      await app.register(toFastifyPlugin(create()), { prefix: "/my/api" });
      await app.listen({ port: 0, host: "127.0.0.1" });
      const { port } = app.server.address() as AddressInfo;
      closing.push(() => app.close());
      return () => fetch(`http://127.0.0.1:${port}${path}?x=1`, { method: "DELETE" });
    },
    async hono() {
      const app = new Hono().all("/my/api/*", toHonoHandler(create()));
      return async () => app.request(`${path}?x=1`, { method: "DELETE" });
    },
    async fetch() {
      const { fetch: answer } = create({ basePath: "/my/api" });
      return () => answer(new Request(`http://t${path}?x=1`, { method: "DELETE" }));
    },
  };
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

  test.for(Object.keys(servers))("a problem names the whole path, with %s", async (name) => {
    const act = await servers[name]!();
    const response = await act();
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ instance: path });
  });
});

describe("an authenticate that is slow", () => {
  test("is waited for, and its timer does not outlive it", async () => {
    const clock = fakeClock();
    const principal = deferred<{ id: string }>();
    const handler = create({ clock, authenticate: () => principal.promise });
    await handler.start();
    const before = clock.pending;
    const answer = handler.fetch(run());
    await clock.advance(9_999);
    expect(clock.pending).toBe(before + 1);
    principal.resolve({ id: "ann" });
    const response = await answer;
    expect(response.status).toBe(200);
    await response.text();
  });
});
