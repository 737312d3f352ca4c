import { AgentError } from "@holodeck/agui-core";
import type { AgentRequest, BaseEvent, Protocol, RunContext } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { agui, allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentFunction, HandlerState, Middleware } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, say, typesOf } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello ";
  yield "world";
};
const quiet = { logger: memoryLogger() };
const textOf = (events: readonly BaseEvent[]): string =>
  events.map(({ delta }) => (typeof delta === "string" ? delta : "")).join("");
const problem = async (response: Response): Promise<Record<string, unknown>> => {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return (await response.json()) as Record<string, unknown>;
};

describe("createAgentHandler", () => {
  test("serves a generator of strings as one valid run", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const response = await fetch(post({ threadId: "t", runId: "r", messages: [say("hi")] }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const events = await eventsOf(response);
    expect(typesOf(events)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(events[0]).toMatchObject({ threadId: "t", runId: "r" });
    expect(textOf(events)).toBe("Hello world");
  });

  test.for<[string, () => unknown]>([
    ["nothing at all", () => undefined],
    ["a promise of nothing", async () => {}],
    ["a promise of a string", async () => "Hello world"],
    ["a promise of a generator", async () => hello()],
    ["an array", () => ["Hello ", "world"]],
    [
      "an Observable",
      () => ({
        subscribe(observer: { next(value: unknown): void; complete(): void }) {
          observer.next({ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "Hello world" });
          observer.complete();
          return { unsubscribe() {} };
        },
      }),
    ],
  ])("takes an agent that returns %s", async ([name, agent]) => {
    const { fetch } = createAgentHandler(agent as never, quiet);
    const events = await eventsOf(await fetch(post({ messages: [] })));
    expect(typesOf(events).at(0)).toBe("RUN_STARTED");
    expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
    if (!name.includes("nothing")) expect(textOf(events)).toBe("Hello world");
  });

  test("hands the emitter to a plain async function, and its result to the client", async () => {
    const { fetch } = createAgentHandler(async (_input, { emit }) => {
      void emit.text("Hi");
      return { answer: 42 };
    }, quiet);
    const events = await eventsOf(await fetch(post({ messages: [] })));
    expect(textOf(events)).toBe("Hi");
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", result: { answer: 42 } });
  });

  test("keeps `fetch` bound", async () => {
    const POST = createAgentHandler(hello, quiet).fetch;
    expect((await POST(post({ messages: [] }))).status).toBe(200);
  });

  test.for([null, 1, "agent", [], { agent: 1 }, {}])("refuses %j as an agent, by name", (agent) => {
    expect(() => createAgentHandler(agent as never)).toThrow(/agent/i);
  });

  test.for<[string, object, RegExp]>([
    ["an unknown limit", { limits: { followerByte: 1 } }, /limits\.followerByte is not a limit/],
    [
      "a negative limit",
      { limits: { stallMs: -1 } },
      /limits\.stallMs must be a number above 0, not -1/,
    ],
    ["a wrong onDisconnect", { onDisconnect: "stay" }, /onDisconnect .* not "stay"/],
    ["a basePath without a slash", { basePath: "api" }, /basePath must start with "\/"/],
    ["an unknown default agent", { defaultAgent: "b" }, /./],
    ["a middleware that is none", { middleware: ["log"] }, /middleware\[0\]/],
  ])("refuses %s at construction", ([, options, message]) => {
    expect(() => createAgentHandler({ a: hello }, options as never)).toThrow(message);
  });
});

describe("routing", () => {
  test("strips the base path, and lets what is not ours through", async () => {
    const { fetch } = createAgentHandler(hello, { ...quiet, basePath: "/api" });
    expect((await fetch(post({ messages: [] }, { path: "/api/agui" }))).status).toBe(200);
    const missed = await fetch(post({ messages: [] }, { path: "/agui" }));
    expect(missed.status).toBe(404);
    expect((await problem(missed)).code).toBe("not-found");
  });

  test("takes several paths for one protocol", async () => {
    const { fetch } = createAgentHandler(hello, {
      ...quiet,
      protocols: [agui({ path: ["/agui", "/awp"] })],
    });
    expect((await fetch(post({ messages: [] }, { path: "/awp" }))).status).toBe(200);
    expect((await fetch(post({ messages: [] }, { path: "/agui" }))).status).toBe(200);
  });

  test("answers 405 with the methods it has, and OPTIONS with the same", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const refused = await fetch(new Request("http://test.local/agui", { method: "DELETE" }));
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("POST, GET, HEAD, OPTIONS");
    expect(await problem(refused)).toMatchObject({ code: "method-not-allowed", status: 405 });
    const options = await fetch(new Request("http://test.local/agui", { method: "OPTIONS" }));
    expect([options.status, options.headers.get("allow")]).toEqual([
      204,
      "POST, GET, HEAD, OPTIONS",
    ]);
  });

  test("answers HEAD where it answers GET, without a body", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const head = await fetch(new Request("http://test.local/agui/info", { method: "HEAD" }));
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("names both protocols when the router cannot distinguish their routes", () => {
    const protocols = [agui(), { ...agui(), name: "twin" }];
    expect(() => createAgentHandler(hello, { protocols })).toThrow(
      /"agui" and "twin".*POST \/agui/,
    );
  });

  test("asks routes that share a path which bodies are theirs", async () => {
    const named: Protocol = {
      name: "named",
      history: "client",
      routes: () => [
        {
          method: "POST",
          path: "/agui",
          body: "json",
          claims: (body) => typeof (body as { method?: unknown }).method === "string",
          handle: () => ({ status: 200, body: { mine: true } }),
        },
      ],
    };
    const { fetch } = createAgentHandler(hello, { ...quiet, protocols: [agui(), named] });
    expect(await (await fetch(post({ method: "info" }))).json()).toEqual({ mine: true });
    expect((await fetch(post({ messages: [] }))).headers.get("content-type")).toBe(
      "text/event-stream",
    );
  });
});

describe("agents", () => {
  const echo = (name: string) =>
    async function* (): AsyncGenerator<string> {
      yield name;
    };

  test("serves the one the request names, in either spelling, else the default", async () => {
    const { fetch } = createAgentHandler({ a: echo("A"), b: { agent: echo("B") } }, quiet);
    const ask = async (body: object): Promise<string> =>
      textOf(await eventsOf(await fetch(post({ messages: [], ...body }))));
    expect(await ask({})).toBe("A");
    expect(await ask({ agentId: "b" })).toBe("B");
    expect(await ask({ agent_id: "b" })).toBe("B");
    expect(await ask({ agentId: "default" })).toBe("A");
  });

  test("takes `defaultAgent` when it is given", async () => {
    const { fetch } = createAgentHandler(
      { a: echo("A"), b: echo("B") },
      { ...quiet, defaultAgent: "b" },
    );
    expect(textOf(await eventsOf(await fetch(post({ messages: [] }))))).toBe("B");
  });

  test("answers 404 with a message that names an unknown agent", async () => {
    const { fetch } = createAgentHandler({ a: echo("A") }, quiet);
    const response = await fetch(post({ messages: [], agentId: "xyz" }));
    expect(response.status).toBe(404);
    expect(await problem(response)).toMatchObject({
      type: "https://holodeck.dev/errors/agent-not-found",
      title: "Agent Not Found",
      status: 404,
      detail: "Agent 'xyz' is not loaded on this server",
      message: "Agent 'xyz' is not loaded on this server",
      instance: "/agui",
      code: "agent-not-found",
      requestId: expect.any(String),
    });
  });

  test("reports to discovery what it knows of each agent, as a map", async () => {
    const handler = createAgentHandler(
      { a: { agent: echo("A"), name: "Ann", goal: "to help" }, b: echo("B") },
      { ...quiet, info: { service: "flagpilot", version: "2.0" } },
    );
    const response = await handler.fetch(new Request("http://test.local/agui/info"));
    const info = (await response.json()) as Record<string, unknown>;
    expect(info).toMatchObject({
      service: "flagpilot",
      version: "2.0",
      agents: { a: { id: "a", name: "Ann", goal: "to help" }, b: { id: "b", name: "b" } },
    });
    expect(info).toEqual(JSON.parse(JSON.stringify(handler.info())));
  });
});

describe("bodies", () => {
  const small = createAgentHandler(hello, { ...quiet, limits: { bodyBytes: 1_000 } });

  test("refuses a declared length over the limit without reading", async () => {
    let read = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read++;
          controller.enqueue(new Uint8Array(100));
        },
      },
      { highWaterMark: 0 },
    );
    const response = await small.fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json", "content-length": "1001" },
        body,
        duplex: "half",
      } as RequestInit),
    );
    expect([response.status, read]).toEqual([413, 0]);
    expect((await problem(response)).code).toBe("payload-too-large");
  });

  test("stops reading an undeclared body at the limit", async () => {
    let read = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read++;
          controller.enqueue(new Uint8Array(100).fill(32));
        },
      },
      { highWaterMark: 0 },
    );
    const response = await small.fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        duplex: "half",
      } as RequestInit),
    );
    expect(response.status).toBe(413);
    expect(read).toBeLessThan(20);
  });

  test.for<[string, RequestInit & { body: string }, number, string]>([
    ["malformed JSON", { body: '{"messages":' }, 400, "invalid-request"],
    ["an array", { body: "[]" }, 400, "invalid-request"],
    ["a string", { body: '"hi"' }, 400, "invalid-request"],
    ["null", { body: "null" }, 400, "invalid-request"],
    ["an empty body", { body: "" }, 400, "invalid-request"],
    [
      "plain text",
      { body: "{}", headers: { "content-type": "text/plain" } },
      415,
      "unsupported-media-type",
    ],
    [
      "a form",
      { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "unsupported-media-type",
    ],
    ["wrong types", { body: '{"messages":{},"tools":5,"threadId":7}' }, 400, "invalid-request"],
    [
      "a body that wants to be nothing we have",
      { body: '{"messages":[]}', headers: { accept: "text/event-stream;q=0" } },
      406,
      "not-acceptable",
    ],
  ])("answers %s with its problem, and serves the next request", async ([, init, status, code]) => {
    const { fetch } = createAgentHandler(hello, quiet);
    const response = await fetch(post(init.body, init));
    expect(response.status).toBe(status);
    expect((await problem(response)).code).toBe(code);
    expect((await fetch(post({ messages: [] }))).status).toBe(200);
  });

  test("survives ten megabytes of nesting", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const response = await fetch(post("[".repeat(10 * 1024 * 1024)));
    expect(response.status).toBe(400);
    expect((await problem(response)).detail).toBe("The body is nested deeper than 64 levels.");
  });

  test("does not take brackets inside strings for nesting", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const content = "[{".repeat(200) + '\\"';
    expect((await fetch(post({ messages: [say(content)] }))).status).toBe(200);
  });

  test("lists every fault of an input at once", async () => {
    const { fetch } = createAgentHandler(hello, quiet);
    const response = await fetch(
      post({ messages: [{ role: "nobody", content: 5 }, 7], tools: [{ name: 3 }] }),
    );
    const { errors } = (await problem(response)) as { errors: { path: string }[] };
    expect(errors.length).toBeGreaterThanOrEqual(3);
    expect(errors.some(({ path }) => path.startsWith("tools"))).toBe(true);
    expect(errors.some(({ path }) => path.startsWith("messages.1"))).toBe(true);
  });
});

describe("who is asking", () => {
  const authenticate = (request: AgentRequest): { id: string } | null => {
    const token = request.headers.get("authorization");
    return token === "Bearer secret" ? { id: "ann" } : null;
  };

  test("answers 401 with the scheme it wants", async () => {
    const { fetch } = createAgentHandler(hello, { ...quiet, authenticate });
    const response = await fetch(post({ messages: [] }));
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await problem(response)).code).toBe("authentication-required");
  });

  test("refuses before it reads the body", async () => {
    const { fetch } = createAgentHandler(hello, { ...quiet, authenticate });
    expect((await fetch(post("{ not json"))).status).toBe(401);
  });

  test("hands the principal to the agent", async () => {
    const { fetch } = createAgentHandler(async (_input, { principal }) => principal?.id, {
      ...quiet,
      authenticate,
    });
    const request = post({ messages: [] }, { headers: { authorization: "Bearer secret" } });
    expect(textOf(await eventsOf(await fetch(request)))).toBe("ann");
  });

  test("masks what `authenticate` throws", async () => {
    const { fetch } = createAgentHandler(hello, {
      ...quiet,
      authenticate: () => {
        throw new Error("ldap://admin:pw@host");
      },
    });
    const response = await fetch(post({ messages: [] }));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("ldap");
  });

  test("has one shared principal when asked for it", async () => {
    const { fetch } = createAgentHandler(async (_input, { principal }) => principal?.id, {
      ...quiet,
      authenticate: allowAnonymous(),
    });
    expect(textOf(await eventsOf(await fetch(post({ messages: [] }))))).toBe("anonymous");
  });
});

describe("failures", () => {
  const secret = new Error("postgres://user:pw@db");

  test.for<[string, () => unknown]>([
    [
      "a throw before the first word",
      () => {
        throw secret;
      },
    ],
    ["a rejection", () => Promise.reject(secret)],
    [
      "a throw in mid-text",
      async function* () {
        yield "Hel";
        throw secret;
      },
    ],
    [
      "an Observable's error",
      () => ({
        subscribe: (o: { error(e: unknown): void }) => (o.error(secret), { unsubscribe() {} }),
      }),
    ],
  ])("turns %s into one masked RUN_ERROR, and logs its cause", async ([, agent]) => {
    const logger = memoryLogger();
    const { fetch } = createAgentHandler(agent as never, { logger });
    const response = await fetch(post({ messages: [] }));
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).not.toContain("postgres");
    const events = await eventsOf(new Response(text));
    expect(events.filter(({ type }) => type === "RUN_ERROR")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent-error" });
    expect(logger.records).toContainEqual(
      expect.objectContaining({ level: "error", error: secret }),
    );
  });

  test("shows the truth in debug mode", async () => {
    const { fetch } = createAgentHandler(() => Promise.reject(secret), { ...quiet, debug: true });
    const events = await eventsOf(await fetch(post({ messages: [] })));
    expect(events.at(-1)).toMatchObject({ message: secret.message });
  });

  test("lets an AgentError speak for itself", async () => {
    const { fetch } = createAgentHandler(
      () => Promise.reject(new AgentError("acme/quota", "Your quota is used up.")),
      quiet,
    );
    expect((await eventsOf(await fetch(post({ messages: [] })))).at(-1)).toMatchObject({
      message: "Your quota is used up.",
      code: "acme/quota",
    });
  });

  test("reports repairs once per run, and turns them into an error when strict", async () => {
    const sloppy = async function* (): AsyncGenerator<object> {
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" };
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "n", delta: "b" };
    };
    const logger = memoryLogger();
    const lenient = createAgentHandler(sloppy as never, { logger });
    const events = await eventsOf(await lenient.fetch(post({ messages: [] })));
    expect(events.at(-1)!.type).toBe("RUN_FINISHED");
    expect(logger.records.filter(({ repairs }) => repairs)).toHaveLength(1);
    const strict = createAgentHandler(sloppy as never, { ...quiet, strict: true });
    expect((await eventsOf(await strict.fetch(post({ messages: [] })))).at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "protocol-violation",
    });
  });
});

describe("request ids", () => {
  test("keeps a harmless one, and makes one for a harmful one", async () => {
    const { fetch } = createAgentHandler(async (_i, { requestId }) => requestId, quiet);
    const kept = await fetch(post({ messages: [] }, { headers: { "x-request-id": "abc-1" } }));
    expect(kept.headers.get("x-request-id")).toBe("abc-1");
    expect(textOf(await eventsOf(kept))).toBe("abc-1");
    const made = await fetch(
      post({ messages: [] }, { headers: { "x-request-id": "a b<script>" } }),
    );
    expect(made.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
  });
});

describe("the life of a handler", () => {
  test("goes through its states in order and reports each", async () => {
    const handler = createAgentHandler(hello, quiet);
    const seen: HandlerState[] = [handler.state];
    handler.on("state", (state) => seen.push(state));
    await handler.start();
    await eventsOf(await handler.fetch(post({ messages: [] })));
    await handler.close();
    expect(seen).toEqual(["initializing", "ready", "running", "shutting_down", "stopped"]);
  });

  test("answers 503 while the host's start() waits for an agent, and then serves", async () => {
    const gate = deferred();
    const handler = createAgentHandler({ run: hello, ready: () => gate.promise }, quiet);
    const starting = handler.start();
    const early = await handler.fetch(post({ messages: [] }));
    expect([early.status, early.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await problem(early)).code).toBe("not-ready");
    gate.resolve();
    await starting;
    expect((await handler.fetch(post({ messages: [] }))).status).toBe(200);
  });

  test("does not start with an agent that does not validate, and tries again", async () => {
    let valid = false;
    const handler = createAgentHandler(
      {
        run: hello,
        validate() {
          if (!valid) throw new Error("no model");
        },
      },
      quiet,
    );
    await expect(handler.start()).rejects.toThrow("Agent 'default' is not ready.");
    expect(handler.state).toBe("initializing");
    valid = true;
    await handler.start();
    expect(handler.state).toBe("ready");
  });

  test("drains on close: the run in flight ends, new requests get 503", async () => {
    const gate = deferred();
    const handler = createAgentHandler(async function* () {
      yield "a";
      await gate.promise;
      yield "b";
    }, quiet);
    const response = await handler.fetch(post({ messages: [] }));
    const closing = handler.close();
    const late = await handler.fetch(post({ messages: [] }));
    expect([late.status, late.headers.get("connection")]).toEqual([503, "close"]);
    expect((await problem(late)).code).toBe("shutting-down");
    gate.resolve();
    expect(textOf(await eventsOf(response))).toBe("ab");
    await closing;
    expect(handler.state).toBe("stopped");
  });

  test("ends a run whose request came in before the doors were closed, and was read after", async () => {
    const handler = createAgentHandler(hello, quiet);
    await handler.start();
    const gate = deferred();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        await gate.promise;
        controller.enqueue(new TextEncoder().encode('{"messages":[]}'));
        controller.close();
      },
    });
    const pending = handler.fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        duplex: "half",
      } as RequestInit),
    );
    await new Promise((resolve) => setImmediate(resolve));
    const closing = handler.close();
    gate.resolve();
    const events = await eventsOf(await pending);
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting-down" });
    await closing;
  });

  test("aborts what does not end in time, with a terminal event", async () => {
    let reason: unknown;
    const handler = createAgentHandler(async (_input, { signal, emit }) => {
      void emit.text("a");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reason = signal.reason;
    }, quiet);
    const response = await handler.fetch(post({ messages: [] }));
    const events = eventsOf(response);
    await handler.close({ timeoutMs: 50 });
    expect((await events).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting-down" });
    expect(reason).toMatchObject({ code: "shutting-down" });
    expect(handler.state).toBe("stopped");
  });
});

describe("runs", () => {
  const waiting =
    (started: (context: RunContext) => void) => async (_input: unknown, context: RunContext) => {
      void context.emit.text("begun");
      started(context);
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    };

  test("are listed while they go, and can be stopped by the host", async () => {
    const begun = deferred<RunContext>();
    const handler = createAgentHandler(waiting(begun.resolve), quiet);
    const response = await handler.fetch(
      post({ threadId: "t", runId: "r", messages: [], protocolVersion: "1.0" }),
    );
    const { signal } = await begun.promise;
    expect(handler.runs.list()).toEqual([
      { runId: "r", threadId: "t", agentId: "default", principal: "", status: "running" },
    ]);
    expect(await handler.runs.stop("r")).toBe(true);
    const events = await eventsOf(response);
    expect(typesOf(events).slice(-2)).toEqual(["TEXT_MESSAGE_END", "RUN_FINISHED"]);
    expect(events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    expect(signal.reason).toMatchObject({ code: "stopped" });
    expect([await handler.runs.stop("r"), handler.runs.list()]).toEqual([false, []]);
  });

  test("reach the agent's signal when their client leaves", async () => {
    const begun = deferred<RunContext>();
    const { fetch } = createAgentHandler(waiting(begun.resolve), quiet);
    const response = await fetch(post({ messages: [] }));
    const { signal } = await begun.promise;
    await response.body!.cancel();
    expect(signal.reason).toMatchObject({ code: "disconnected" });
  });

  test("go on without a client where the options allow it", async () => {
    const gate = deferred();
    const finished = deferred<boolean>();
    const handler = createAgentHandler(
      async (_input, { emit, signal }) => {
        void emit.text("a");
        await gate.promise;
        finished.resolve(signal.aborted);
      },
      { ...quiet, onDisconnect: "continue" },
    );
    const response = await handler.fetch(post({ threadId: "t", runId: "r", messages: [] }));
    await response.body!.cancel();
    gate.resolve();
    expect(await finished.promise).toBe(false);
  });

  test("hold their thread: a second one gets 409, and the thread is free at the end", async () => {
    const begun = deferred<RunContext>();
    const handler = createAgentHandler(waiting(begun.resolve), quiet);
    const body = { threadId: "t", runId: "r", messages: [] };
    const first = await handler.fetch(post(body));
    await begun.promise;
    const second = await handler.fetch(post({ ...body, runId: "r2" }));
    expect([second.status, (await problem(second)).code]).toEqual([409, "thread-busy"]);
    const same = await handler.fetch(post({ ...body, threadId: "t2" }));
    expect([same.status, (await problem(same)).code]).toEqual([409, "run-exists"]);
    await handler.runs.stop("r");
    await first.text();
    expect(handler.runs.list()).toEqual([]);
  });

  test("are limited in number with 429 and Retry-After", async () => {
    const begun = deferred<RunContext>();
    const handler = createAgentHandler(waiting(begun.resolve), {
      ...quiet,
      limits: { maxConcurrentRuns: 1 },
    });
    const first = await handler.fetch(post({ runId: "r", messages: [] }));
    await begun.promise;
    const refused = await handler.fetch(post({ messages: [] }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    await handler.runs.stop("r");
    await first.text();
  });

  test("leave their messages and state in the session before the end is sent", async () => {
    const handler = createAgentHandler(async (_input, { emit, state }) => {
      await state.set({ done: true });
      void emit.text("Hi");
    }, quiet);
    const response = await handler.fetch(
      post({ threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "hi" }] }),
    );
    await response.text();
    expect(await handler.sessions.get({ principal: "", threadId: "t" })).toMatchObject({
      messageCount: 2,
      messages: [{ id: "1" }, { role: "assistant", content: "Hi" }],
      state: { done: true },
      lastRunId: "r",
    });
  });

  test("see the thread's state when the client sends none, and the client's when it does", async () => {
    const seen: unknown[] = [];
    const handler = createAgentHandler(async (input, { state }) => {
      seen.push(input.state);
      await state.set({ n: 1 });
    }, quiet);
    const run = async (state: unknown): Promise<string> =>
      (await handler.fetch(post({ threadId: "t", messages: [], state }))).text();
    await run({});
    await run({});
    await run({ mine: true });
    expect(seen).toEqual([{}, { n: 1 }, { mine: true }]);
  });

  test("keep what `session.set` wrote for the next run of the thread", async () => {
    const handler = createAgentHandler(async (_input, { session }) => {
      const visits = ((session.get("visits") as number | undefined) ?? 0) + 1;
      session.set("visits", visits);
      return String(visits);
    }, quiet);
    const run = async (): Promise<string> =>
      textOf(await eventsOf(await handler.fetch(post({ threadId: "t", messages: [] }))));
    expect([await run(), await run()]).toEqual(["1", "2"]);
  });

  test("begin with what `exposeSessionState` shows of the session", async () => {
    const handler = createAgentHandler(hello, {
      ...quiet,
      exposeSessionState: ({ messageCount }) => ({ messageCount }),
    });
    const events = await eventsOf(await handler.fetch(post({ threadId: "t", messages: [] })));
    expect(events[1]).toMatchObject({ type: "STATE_SNAPSHOT", snapshot: { messageCount: 0 } });
  });
});

describe("handler middleware", () => {
  test("stands around every request of ours, errors included, outermost first", async () => {
    const order: string[] = [];
    const layer = (name: string) => ({
      name,
      async request(_request: AgentRequest, next: () => Promise<{ status: number }>) {
        order.push(name);
        const reply = await next();
        return {
          ...reply,
          headers: { ...(reply as { headers?: object }).headers, [`x-${name}`]: "1" },
        };
      },
    });
    const { fetch } = createAgentHandler(hello, { ...quiet, middleware: [layer("a"), layer("b")] });
    const response = await fetch(post("{"));
    expect(response.status).toBe(400);
    expect([response.headers.get("x-a"), response.headers.get("x-b")]).toEqual(["1", "1"]);
    expect(order).toEqual(["a", "b"]);
    const streamed = await fetch(post({ messages: [] }));
    expect([streamed.status, streamed.headers.get("x-a")]).toEqual([200, "1"]);
    expect(textOf(await eventsOf(streamed))).toBe("Hello world");
  });

  test("may refuse a run before any stream", async () => {
    const { fetch } = createAgentHandler(hello, {
      ...quiet,
      middleware: [
        {
          name: "full",
          admit: () => {
            throw new AgentError("rate-limited", "Slow down.", { retryAfter: 9 });
          },
        },
      ],
    });
    const response = await fetch(post({ messages: [] }));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "9"]);
  });

  test("that answers in place of the run releases its thread", async () => {
    let replace = true;
    const handler = createAgentHandler(hello, {
      ...quiet,
      middleware: [
        {
          name: "cache",
          async request(_request, next) {
            const reply = await next();
            return replace ? { status: 200, body: "cached" } : reply;
          },
        },
      ],
    });
    const body = { threadId: "t", messages: [] };
    expect(await (await handler.fetch(post(body))).text()).toBe("cached");
    expect(handler.runs.list()).toEqual([]);
    replace = false;
    expect((await handler.fetch(post(body))).status).toBe(200);
  });

  test("of the run kind sees a valid run, and its faults are repaired", async () => {
    const { mapEvents } = await import("../src/index.ts");
    const seen: string[] = [];
    const logger = memoryLogger();
    const { fetch } = createAgentHandler(hello, {
      logger,
      middleware: [
        mapEvents((event) => {
          seen.push(event.type);
          return event.type === "TEXT_MESSAGE_END" ? null : event;
        }),
      ],
    });
    const events = await eventsOf(await fetch(post({ messages: [] })));
    expect(seen).toContain("TEXT_MESSAGE_END");
    expect(typesOf(events)).toContain("TEXT_MESSAGE_END");
    expect(textOf(events)).toBe("Hello world");
    expect(logger.records.find(({ repairs }) => repairs)).toMatchObject({ stage: "middleware" });
  });

  test("does not keep the repairs of an agent to itself that goes on after its end", async () => {
    const logger = memoryLogger();
    const unended: AgentFunction = async function* (_input, { signal }) {
      yield { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" };
      yield { type: "RUN_FINISHED", threadId: "t", runId: "r" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const pass: Middleware = (input, context, next) => next(input, context);
    const handler = createAgentHandler(unended, { logger, middleware: [pass] });
    await eventsOf(await handler.fetch(post({ messages: [say("hi")] })));
    await expect
      .poll(() => logger.records.filter(({ repairs }) => repairs))
      .toMatchObject([{ stage: "agent", repairs: { "left-open": 1 } }]);
  });
});
