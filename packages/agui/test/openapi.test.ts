import type { Json, Protocol, Route } from "@holodeck/agui-core";
import { toExpressHandler } from "@holodeck/agui-express";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
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
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const run = { threadId: "t", protocolVersion: "1.0", messages: [say("hi")] };

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
    { path: "/agui", body: run, headers: { authorization: "" }, status: 401 },
  ],
  "GET /agui/info": [
    { path: "/agui/info", status: 200 },
    { path: "/agui/info", headers: { authorization: "" }, status: 401 },
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
  "GET /health": [{ path: "/health", headers: { authorization: "" }, status: 200 }],
  "GET /ready": [{ path: "/ready", headers: { authorization: "" }, status: 200 }],
  "GET /health/agent": [{ path: "/health/agent", headers: { authorization: "" }, status: 200 }],
  "GET /openapi.json": [{ path: "/openapi.json", headers: { authorization: "" }, status: 200 }],
};

const options: AgentHandlerOptions = {
  logger: memoryLogger(),
  authenticate: ({ headers }) => (headers.get("authorization") ? { id: "ann" } : null),
};

function createHandler(more: AgentHandlerOptions = {}): AgentHandler {
  return createAgentHandler(
    async function* (_input, { emit, state }) {
      yield "Hello";
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
const timeout = 60_000;

describe("the OpenAPI document", { timeout }, () => {
  let serving: Serving;
  let document: Json;
  let check: ReturnType<typeof createAnswerCheck>;
  beforeAll(async () => {
    serving = await serve(createHandler(), { port: 0, signals: false });
    document = (await (await fetch(`${serving.url}/openapi.json`)).json()) as Json;
    check = createAnswerCheck(document);
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
        const response = await fetch(serving.url + path, {
          method,
          headers: { authorization: "Bearer ann", "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        expect(response.status, `${method} ${path} ${JSON.stringify(body)}`).toBe(status);
        // Read at once and checked later: compiling schemas takes longer than connections are kept.
        const { status: code, headers: sent } = response;
        answers.push([name, new Response(await response.text(), { status: code, headers: sent })]);
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

  test("says who has to say who they are", () => {
    expect(find(document, "/agui", "post").security).toEqual([{ bearer: [] }]);
    expect(find(document, "/health", "get").security).toEqual([]);
    expect(document.components).toHaveProperty("securitySchemes.bearer.scheme", "bearer");
  });

  test("asks nobody where there is no authenticate", async () => {
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

  test("are in the document although they say nothing of themselves", async () => {
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

  test("at several paths have ids of their own, and share their schemas", async () => {
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
