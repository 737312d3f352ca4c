import type { Json, Protocol, Route } from "@holodeck/agui-core";
import { toExpressHandler } from "@holodeck/agui-express";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { readSse } from "@holodeck/agui-testing";
import { Validator } from "@seriousme/openapi-schema-validator";
import express from "express";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { agui, createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { memoryLogger, say } from "./_helpers.ts";
import { createAnswerCheck, operationsOf } from "./_operations.ts";
import type { Operation } from "./_operations.ts";

/** A request of an operation, and the status it has to be answered with. */
interface Example {
  readonly path: string;
  readonly status: number;
  /** A function: made of what the server says before. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const run = { threadId: "t", protocolVersion: "1.0", messages: [say("hi")] };
const nobody = { authorization: "" };
const json = { "content-type": "application/json" };

// Each protocol has ids of its own form; these threads come into being on the way.
const uuid = "11111111-2222-4333-8444-555555555555";
const otherUuid = "22222222-2222-4333-8444-555555555555";
const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const uiChat = {
  id: "ui",
  trigger: "submit-message",
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }],
};
const form = { "content-type": "multipart/form-data; boundary=x" };
const formBody = '--x\r\ncontent-disposition: form-data; name="message"\r\n\r\nhi\r\n--x--\r\n';

/** What answers the client tool that a thread has just asked for. */
async function askedFor(url: string): Promise<Json> {
  const response = await fetch(`${url}/chat`, {
    method: "POST",
    headers: { ...json, authorization: "Bearer ann" },
    body: JSON.stringify({ message: "pick", tools: [{ name: "pick" }] }),
  });
  for await (const { data } of readSse(response)) {
    const { event, execution_id } = JSON.parse(data) as Json;
    if (event === "tool_execution_request") return { execution_id, execution_time_ms: 1 };
  }
  throw new Error("No tool was asked for.");
}
const toolResult = { execution_id: "unheard-of", execution_time_ms: 1, result: 1 };

/** The AI SDK's operations, at one of the places where they are. */
function vercelAt(path: string): Record<string, readonly Example[]> {
  return {
    [`POST ${path}`]: [
      { path, body: uiChat, status: 200 },
      { path, body: { id: "v4", messages: [say("hi")] }, status: 200 },
      { path, body: { prompt: "hi" }, status: 200 },
      { path, body: { messages: [7] }, status: 400 },
      { path, body: { ...uiChat, agentId: "nobody" }, status: 404 },
      { path, body: uiChat, headers: nobody, status: 401 },
    ],
    [`GET ${path}`]: [
      { path: `${path}?chatId=v4`, status: 200 },
      // Not asked for.
      { path, status: 404 },
      { path: `${path}?chatId=v4`, headers: nobody, status: 401 },
    ],
    [`GET ${path}/{id}/stream`]: [
      { path: `${path}/ui/stream`, status: 204 },
      { path: `${path}/ui/stream`, headers: nobody, status: 401 },
    ],
    [`POST ${path}/{id}/stop`]: [
      { path: `${path}/ui/stop`, status: 200 },
      { path: `${path}/ui/stop`, headers: nobody, status: 401 },
    ],
  };
}

/**
 * Requests of every operation of the document, sent in this order to one server: the good case and
 * the refusals. An operation without a line here fails the first test.
 */
const examples: Readonly<Record<string, readonly Example[]>> = {
  "POST /agui": [
    { path: "/agui", body: { ...run, runId: "r1" }, status: 200 },
    { path: "/agui", body: { thread_id: "t", messages: [say("again")] }, status: 200 },
    { path: "/agui", body: { messages: 7 }, status: 400 },
    { path: "/agui", body: { ...run, agentId: "nobody" }, status: 404 },
    { path: "/agui", body: run, headers: { accept: "application/json;q=0" }, status: 200 },
    { path: "/agui", body: run, headers: { accept: "text/event-stream;q=0" }, status: 406 },
    { path: "/agui", body: run, headers: { "content-type": "text/plain" }, status: 415 },
    { path: "/agui", body: run, headers: nobody, status: 401 },
    { path: "/agui", body: { method: "info" }, status: 200 },
    { path: "/agui", body: { method: "inspector/metadata" }, status: 204 },
    {
      path: "/agui",
      body: { method: "agent/run", params: { agentId: "default" }, body: { ...run, runId: "r2" } },
      status: 200,
    },
    { path: "/agui", body: { method: "agent/fly" }, status: 400 },
  ],
  "POST /agui/agent/{agentId}/run": [
    { path: "/agui/agent/default/run", body: { ...run, threadId: "ck" }, status: 200 },
    { path: "/agui/agent/default/run", body: { messages: 7 }, status: 400 },
    { path: "/agui/agent/nobody/run", body: run, status: 404 },
    { path: "/agui/agent/default/run", body: run, headers: nobody, status: 401 },
  ],
  "POST /agui/agent/{agentId}/connect": [
    { path: "/agui/agent/default/connect", body: { threadId: "ck" }, status: 200 },
    { path: "/agui/agent/default/connect", body: { threadId: "unheard-of" }, status: 200 },
    { path: "/agui/agent/default/connect", body: {}, status: 400 },
    { path: "/agui/agent/nobody/connect", body: { threadId: "ck" }, status: 404 },
  ],
  "POST /agui/agent/{agentId}/suggest": [
    { path: "/agui/agent/default/suggest", body: run, status: 200 },
    { path: "/agui/agent/nobody/suggest", body: run, status: 404 },
  ],
  "POST /agui/agent/{agentId}/stop/{threadId}": [
    { path: "/agui/agent/default/stop/ck", status: 200 },
    { path: "/agui/agent/default/stop/ck", body: { runId: 7 }, status: 400 },
    { path: "/agui/agent/nobody/stop/ck", status: 404 },
  ],
  "GET /agui/threads": [
    { path: "/agui/threads?limit=1", status: 200 },
    { path: "/agui/threads?limit=0", status: 400 },
    { path: "/agui/threads", headers: nobody, status: 401 },
  ],
  "PATCH /agui/threads/{threadId}": [
    { path: "/agui/threads/ck", body: { name: "First" }, status: 200 },
    { path: "/agui/threads/ck", body: {}, status: 400 },
    { path: "/agui/threads/unheard-of", body: { name: "First" }, status: 404 },
  ],
  "POST /agui/threads/{threadId}/archive": [
    { path: "/agui/threads/ck/archive", body: {}, status: 200 },
    { path: "/agui/threads/unheard-of/archive", body: {}, status: 404 },
  ],
  ...Object.fromEntries(
    ["messages", "events", "state"].map((what): [string, readonly Example[]] => [
      `GET /agui/threads/{threadId}/${what}`,
      [
        { path: `/agui/threads/ck/${what}`, status: 200 },
        { path: `/agui/threads/unheard-of/${what}`, status: 404 },
      ],
    ]),
  ),
  "DELETE /agui/threads/{threadId}": [
    { path: "/agui/threads/ck", status: 200 },
    { path: "/agui/threads/ck", status: 404 },
  ],
  ...vercelAt("/api/chat"),
  ...vercelAt("/chat"),
  // One place for two protocols: the body tells.
  "POST /chat": [
    ...vercelAt("/chat")["POST /chat"]!,
    { path: "/chat", body: { message: "hi", stream: false }, status: 200 },
    { path: "/chat", body: { message: "hi" }, status: 200 },
    { path: "/chat", body: { message: " " }, status: 400 },
    { path: "/chat", body: {}, status: 400 },
    { path: "/chat", body: { message: "hi", thread_id: otherUuid }, status: 404 },
  ],
  "POST /agent/{name}/chat": [
    { path: "/agent/default/chat", body: { message: "hi", session_id: ulid }, status: 200 },
    { path: "/agent/default/chat", body: formBody, headers: form, status: 200 },
    { path: "/agent/default/chat", body: { message: " " }, status: 400 },
    { path: "/agent/nobody/chat", body: { message: "hi" }, status: 404 },
    {
      path: "/agent/default/chat",
      body: "hi",
      headers: { "content-type": "text/css" },
      status: 415,
    },
    { path: "/agent/default/chat", body: { message: "hi" }, headers: nobody, status: 401 },
  ],
  "POST /agent/{name}/chat/stream": [
    { path: "/agent/default/chat/stream", body: { message: "hi" }, status: 200 },
    { path: "/agent/default/chat/stream", body: formBody, headers: form, status: 200 },
    { path: "/agent/default/chat/stream", body: { session_id: "x" }, status: 400 },
    { path: "/agent/nobody/chat/stream", body: { message: "hi" }, status: 404 },
  ],
  "DELETE /sessions/{id}": [
    { path: `/sessions/${ulid}`, status: 204 },
    { path: `/sessions/${ulid}`, status: 204 },
    { path: "/sessions/x", status: 400 },
    { path: `/sessions/${ulid}`, headers: nobody, status: 401 },
  ],
  "GET /threads": [
    { path: "/threads?limit=100", status: 200 },
    { path: "/threads?limit=0", status: 400 },
    { path: "/threads", headers: nobody, status: 401 },
  ],
  "GET /threads/{id}": [
    { path: `/threads/${uuid}`, status: 200 },
    { path: `/threads/${otherUuid}`, status: 404 },
    { path: "/threads/x", status: 400 },
  ],
  "POST /threads/{id}/abort": [
    { path: `/threads/${uuid}/abort`, status: 200 },
    { path: `/threads/${otherUuid}/abort`, status: 404 },
  ],
  "DELETE /threads/{id}": [
    { path: `/threads/${uuid}`, status: 204 },
    { path: `/threads/${uuid}`, status: 404 },
    { path: `/threads/${uuid}`, headers: nobody, status: 401 },
  ],
  "POST /tool_result": [
    {
      path: "/tool_result",
      body: async (url: string) => ({ ...(await askedFor(url)), result: "a" }),
      status: 200,
    },
    {
      path: "/tool_result",
      body: async (url: string) => ({ ...(await askedFor(url)), error: "gone" }),
      status: 200,
    },
    { path: "/tool_result", body: toolResult, status: 404 },
    { path: "/tool_result", body: { ...toolResult, error: "both" }, status: 400 },
    { path: "/tool_result", body: toolResult, headers: nobody, status: 401 },
  ],
  "GET /agui": [
    { path: "/agui?runId=r1&offset=-1", status: 200 },
    { path: "/agui?runId=r1&offset=x", status: 400 },
    { path: "/agui?runId=nobody", status: 404 },
    { path: "/agui?threadId=t", status: 200 },
    { path: "/agui?threadId=", status: 400 },
    { path: "/agui?threadId=none", headers: nobody, status: 401 },
  ],
  "GET /agui/info": [
    { path: "/agui/info", status: 200 },
    { path: "/agui/info", headers: nobody, status: 401 },
  ],
  "GET /agui/runs/{runId}/events": [
    { path: "/agui/runs/r1/events", status: 200 },
    { path: "/agui/runs/r1/events?offset=1", status: 200 },
    { path: "/agui/runs/r1/events?offset=x", status: 400 },
    { path: "/agui/runs/nobody/events", status: 404 },
  ],
  "POST /agui/runs/{runId}/stop": [
    { path: "/agui/runs/r1/stop", status: 200 },
    { path: "/agui/runs/nobody/stop", status: 404 },
  ],
  "GET /health": [{ path: "/health", headers: nobody, status: 200 }],
  "GET /ready": [{ path: "/ready", headers: nobody, status: 200 }],
  "GET /health/agent": [{ path: "/health/agent", headers: nobody, status: 200 }],
  "GET /openapi.json": [{ path: "/openapi.json", headers: nobody, status: 200 }],
};

const options: AgentHandlerOptions = {
  logger: memoryLogger(),
  authenticate: ({ headers }) => (headers.get("authorization") ? { id: "ann" } : null),
};

function createHandler(more: AgentHandlerOptions = {}): AgentHandler {
  return createAgentHandler(
    async function* (input, { emit, state, callTool }) {
      yield "Hello";
      if (input.tools.length > 0) await callTool("pick", {});
      await state.set({ risk_level: 3 });
      await emit.toolResult(emit.toolCall("look", { at: "it" }), "seen");
      await emit.step("think", () => emit.reasoning("hm"));
    },
    { ...options, ...more },
  );
}

async function isValid(document: Json): Promise<unknown> {
  return new Validator().validate(structuredClone(document));
}

const find = (document: Json, path: string, method: string): Operation & Json =>
  (document.paths as Record<string, Record<string, Operation & Json>>)[path]![method]!;

// Compiling the schemas of all events takes seconds on a busy machine.
const timeout = 300_000;

describe("the OpenAPI document", { timeout }, () => {
  let serving: Serving;
  let document: Json;
  let check: ReturnType<typeof createAnswerCheck>;
  beforeAll(async () => {
    serving = await serve(createHandler(), { port: 0, signals: false });
    // A busy machine may take longer between two requests than connections are kept by default.
    serving.server.keepAliveTimeout = 0;
    document = (await (await fetch(`${serving.url}/openapi.json`)).json()) as Json;
    check = createAnswerCheck(document);
    // Made by AG-UI, which takes any id: a thread is not of one protocol.
    await (
      await fetch(`${serving.url}/agui`, {
        method: "POST",
        headers: { ...json, authorization: "Bearer ann" },
        body: JSON.stringify({ ...run, threadId: uuid }),
      })
    ).text();
  }, timeout);
  afterAll(() => serving.close());

  test("names every operation that is mounted, and nothing else", async () => {
    const handler = createHandler();
    expect(operationsOf(document).sort()).toEqual(Object.keys(examples).sort());
    const routes = handler.info().routes as string[];
    const templates = routes.map((route) => route.replaceAll(/:(\w+)/g, "{$1}"));
    expect(operationsOf(document).sort()).toEqual(templates.sort());
    expect(document).toEqual(JSON.parse(JSON.stringify(await handler.openapi())));
    await handler.close();
  });

  test("is valid OpenAPI 3.1", async () => {
    expect(document.openapi).toBe("3.1.0");
    expect(await isValid(document)).toEqual({ valid: true });
  });

  test("keeps its word: every operation answers what it promises", async () => {
    const answers: [name: string, response: Response][] = [];
    for (const [name, requests] of Object.entries(examples)) {
      const [method = "GET"] = name.split(" ");
      for (const { path, body, headers, status } of requests) {
        const sent: unknown = typeof body === "function" ? await body(serving.url) : body;
        const response = await fetch(serving.url + path, {
          method,
          headers: { authorization: "Bearer ann", ...json, ...headers },
          ...(sent === undefined
            ? {}
            : { body: typeof sent === "string" ? sent : JSON.stringify(sent) }),
        });
        expect(response.status, `${method} ${path} ${JSON.stringify(body)}`).toBe(status);
        // Read at once and checked later: compiling schemas takes longer than connections are kept.
        const { status: code, headers: given } = response;
        const text = await response.text();
        answers.push([name, new Response(text || null, { status: code, headers: given })]);
      }
    }
    for (const [name, response] of answers) await check(name, response);
  });

  test("would not let another answer pass", async () => {
    const wrong = (body: unknown, status = 200, type = "application/json"): Response =>
      new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
    await expect(check("GET /ready", wrong({ ready: 1, state: "ready" }))).rejects.toThrow(
      "must be boolean",
    );
    await expect(check("GET /ready", wrong({}, 201))).rejects.toThrow("does not know");
    await expect(check("GET /ready", wrong({}, 200, "text/html"))).rejects.toThrow("not promised");
    await expect(
      check("POST /agui", new Response('data: {"type":"RUN_STARTED"}', { headers: sse })),
    ).rejects.toThrow("threadId");
    await expect(
      check("POST /agui", wrong({ status: 400 }, 400, "application/problem+json")),
    ).rejects.toThrow("type");
  });

  test("names the routes that need authentication", () => {
    expect(find(document, "/agui", "post").security).toEqual([{ bearer: [] }]);
    expect(find(document, "/health", "get").security).toEqual([]);
    expect(document.components).toHaveProperty("securitySchemes.bearer.scheme", "bearer");
  });

  test("needs no authentication where there is no authenticate", async () => {
    const open = await createAgentHandler(async () => "a").openapi();
    expect(JSON.stringify(open)).not.toContain("bearer");
  });

  test("is there before the agents are ready and after the end", async () => {
    const handler = createAgentHandler(
      { slow: { run: async () => "a", ready: () => new Promise<void>(() => {}) } },
      options,
    );
    void handler.start();
    const get = (): Promise<Response> => handler.fetch(new Request("http://t/openapi.json"));
    expect((await get()).status).toBe(200);
    await handler.close({ timeoutMs: 10 });
    expect((await get()).status).toBe(200);
  });

  test("can be elsewhere, or nowhere", async () => {
    const moved = createHandler({ openapi: { path: "/api-docs.json" } });
    expect((await moved.fetch(new Request("http://t/api-docs.json"))).status).toBe(200);
    expect((await moved.fetch(new Request("http://t/openapi.json"))).status).toBe(404);
    const gone = createHandler({ openapi: false });
    expect((await gone.fetch(new Request("http://t/openapi.json"))).status).toBe(404);
    expect(operationsOf(await gone.openapi())).not.toContain("GET /openapi.json");
  });

  test("knows the prefix it is mounted under", async () => {
    const handler = createHandler();
    expect(await createHandler({ basePath: "/api" }).openapi()).toMatchObject({
      servers: [{ url: "/api" }],
    });
    const server = express().use("/my/app", toExpressHandler(handler)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/my/app/openapi.json`);
    expect(await response.json()).toMatchObject({ servers: [{ url: "/my/app" }] });
    await new Promise((resolve) => server.close(resolve));
  });
});

const sse = { "content-type": "text/event-stream" };

describe("routes of one's own", { timeout }, () => {
  const protocol = (name: string, routes: readonly Route[]): Protocol => ({
    name,
    history: "client",
    routes: () => routes,
  });
  const answer = { handle: () => ({ status: 200 }) };
  const body = (schema: z.ZodType): Json => ({
    content: { "application/json": { schema: z.toJSONSchema(schema) } },
  });

  test("are in the document although they do not describe themselves", async () => {
    const mine = protocol("mine", [
      { method: "GET", path: "/things/:thingId/parts/:part", ...answer },
      { method: "POST", path: "/things", body: "json-or-multipart", ...answer },
    ]);
    const document = await createHandler({ protocols: [mine] }).openapi();
    expect(await isValid(document)).toEqual({ valid: true });
    expect(find(document, "/things/{thingId}/parts/{part}", "get")).toMatchObject({
      operationId: "getThingsThingIdPartsPart",
      tags: ["mine"],
      parameters: [
        { name: "thingId", in: "path", required: true },
        { name: "part", in: "path", required: true },
      ],
      responses: { "4XX": { $ref: "#/components/responses/Problem" } },
    });
    expect(find(document, "/things", "post").requestBody).toMatchObject({
      content: { "application/json": {}, "multipart/form-data": {} },
    });
  });

  test("with errors of another form describe no problem details", async () => {
    const failure = { description: "An error.", ...body(z.object({ error: z.string() })) };
    const operation = (): Json => ({ responses: { default: failure } });
    const mine = protocol("mine", [{ method: "GET", path: "/thing", ...answer, operation }]);
    const document = await createHandler({ protocols: [mine] }).openapi();
    expect(Object.keys(find(document, "/thing", "get").responses as Json)).toEqual(["default"]);
  });

  test("that share a place are one operation with either body", async () => {
    const post = { method: "POST", path: "/chat", body: "json", ...answer } as const;
    const a = protocol("a", [
      {
        ...post,
        claims: (given) => typeof given === "string",
        operation: () => ({
          operationId: "chat",
          summary: "Chats.",
          tags: ["a"],
          parameters: [{ name: "x", in: "query", required: true, schema: { type: "string" } }],
          requestBody: { required: true, ...body(z.object({ message: z.string() })) },
          responses: { "200": { description: "An answer.", ...body(z.object({ a: z.int() })) } },
        }),
      },
    ]);
    const b = protocol("b", [
      {
        ...post,
        operation: () => ({
          operationId: "talk",
          summary: "Talks.",
          tags: ["b"],
          requestBody: { required: true, ...body(z.object({ messages: z.array(z.string()) })) },
          responses: {
            "200": { description: "Another.", ...body(z.object({ b: z.int() })) },
            "204": { description: "Nothing." },
          },
        }),
      },
    ]);
    const document = await createHandler({ protocols: [a, b] }).openapi();
    expect(await isValid(document)).toEqual({ valid: true });
    expect(find(document, "/chat", "post")).toMatchObject({
      operationId: "chatOrTalk",
      summary: "Chats. Or: Talks.",
      tags: ["a", "b"],
      parameters: [{ name: "x", required: false }],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              anyOf: [{ required: ["message"] }, { required: ["messages"] }],
            },
          },
        },
      },
      responses: {
        "200": {
          description: "An answer. Or: Another.",
          content: { "application/json": { schema: { anyOf: [{}, {}] } } },
        },
        "204": { description: "Nothing." },
      },
    });
  });

  test("may have schemas that point to themselves", async () => {
    interface Tree {
      name: string;
      children: Tree[];
    }
    const tree: z.ZodType<Tree> = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const mine = protocol("mine", [
      {
        method: "POST",
        path: "/trees",
        body: "json",
        ...answer,
        operation: () => ({
          operationId: "plant",
          requestBody: body(tree),
          responses: { "200": { description: "A pair.", ...body(z.tuple([tree, tree])) } },
        }),
      },
    ]);
    const document = await createHandler({ protocols: [mine] }).openapi();
    expect(await isValid(document)).toEqual({ valid: true });
    const check = createAnswerCheck(document);
    const leaf = { name: "leaf", children: [] };
    const reply = (value: unknown): Response => Response.json(value);
    await check("POST /trees", reply([leaf, { name: "root", children: [leaf] }]));
    const bad = reply([leaf, { name: "root", children: [{ ...leaf, name: 7 }] }]);
    await expect(check("POST /trees", bad)).rejects.toThrow("must be string");
  });

  test("may name the parameter of one path differently", async () => {
    const seen: unknown[] = [];
    const handle: Route["handle"] = ({ params }) => {
      seen.push(params);
      return { status: 204 };
    };
    const a = protocol("a", [{ method: "GET", path: "/threads/:id", handle }]);
    const b = protocol("b", [{ method: "DELETE", path: "/threads/:threadId", handle }]);
    const handler = createHandler({ protocols: [a, b] });
    expect(await isValid(await handler.openapi())).toEqual({ valid: true });
    expect(operationsOf(await handler.openapi())).toContain("DELETE /threads/{id}");
    const headers = { authorization: "Bearer ann" };
    await handler.fetch(new Request("http://t/threads/7", { headers }));
    await handler.fetch(new Request("http://t/threads/8", { method: "DELETE", headers }));
    expect(seen).toMatchObject([{ id: "7" }, { threadId: "8" }]);
  });

  test("at several paths have different ids, and share their schemas", async () => {
    const document = await createHandler({
      protocols: [agui({ path: ["/agui", "/awp"] })],
    }).openapi();
    expect(await isValid(document)).toEqual({ valid: true });
    expect(find(document, "/awp", "post").operationId).toBe("runAgent2");
    const { schemas } = document.components as { schemas: Json };
    expect(Object.keys(schemas)).toEqual(["Problem", "RunAgentInput", "AguiEvent"]);
  });

  test("are asked again when what they are made of could not be loaded", async () => {
    let attempts = 0;
    const operation = (): Json => {
      if (++attempts === 1) throw new Error("no zod today");
      return { operationId: "later", responses: {} };
    };
    const mine = protocol("mine", [{ method: "GET", path: "/later", ...answer, operation }]);
    const handler = createHandler({ protocols: [mine] });
    await expect(handler.openapi()).rejects.toThrow("no zod today");
    expect(find(await handler.openapi(), "/later", "get").operationId).toBe("later");
  });

  test("win over the handler's own pages", async () => {
    const mine = protocol("mine", [
      { method: "GET", path: "/health", public: true, handle: () => ({ status: 418 }) },
    ]);
    const handler = createHandler({ protocols: [mine] });
    expect((await handler.fetch(new Request("http://t/health"))).status).toBe(418);
    expect((await handler.fetch(new Request("http://t/ready"))).status).toBe(200);
  });
});
