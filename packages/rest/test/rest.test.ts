import { createAgentHandler } from "@holodeck/agui";
import { defaultLimits } from "@holodeck/agui-core";
import type { Json, ProtocolHost } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { rest } from "../src/index.ts";
import type { RestOptions } from "../src/index.ts";
import { chat, problemOf, serveRest } from "./_kit.ts";

const host: ProtocolHost = Object.assign(Object.create(null), { limits: defaultLimits });
const routesOf = (options?: RestOptions): string[] =>
  rest(options)
    .routes(host)
    .map(({ method, path }) => `${method} ${path}`);

describe("rest", () => {
  test("is served below /agent and /sessions, and the server owns the history", () => {
    expect(rest()).toMatchObject({ name: "rest", history: "server" });
    expect(routesOf()).toEqual([
      "POST /agent/:name/chat",
      "POST /agent/:name/chat/stream",
      "DELETE /sessions/:id",
    ]);
    expect(rest().describe?.({} as never)).toEqual({
      protocols: { rest: { path: "/agent", sessionsPath: "/sessions" } },
    });
  });

  test("is served wherever one wants it, also in several places", () => {
    expect(routesOf({ path: ["/v1/agents/", "/"], sessionsPath: "/v1/sessions" })).toEqual([
      "POST /v1/agents/:name/chat",
      "POST /v1/agents/:name/chat/stream",
      "POST /:name/chat",
      "POST /:name/chat/stream",
      "DELETE /v1/sessions/:id",
    ]);
  });

  test.for<[object, string]>([
    [{ paths: "/a" }, "paths is not an option of rest. Did you mean path?"],
    [{ path: "agent" }, 'rest({ path: "agent" }) must start with "/".'],
    [{ path: [] }, "rest({ path }) must be one path or several"],
    [
      { sessionsPath: 5 },
      'rest({ sessionsPath }) must be one path or several, such as "/agent", not 5.',
    ],
    [{ messageChars: 0 }, "rest({ messageChars: 0 }) must be at least 1."],
    [{ messageChars: "many" }, "rest({ messageChars: many }) must be at least 1."],
    [{ idFormat: "guid" }, 'rest({ idFormat: "guid" }) must be one of "ulid", "uuid", "any".'],
    [{ composeMessage: "x" }, 'rest({ composeMessage }) must be a function, not "x".'],
    [{ mimeTypes: "audio/wav" }, "rest({ mimeTypes }) must be a list of types"],
    [{ mimeTypes: ["wav"] }, 'rest({ mimeTypes: ["wav"] })'],
  ])("refuses %j", ([options, message]) => {
    expect(() => rest(options as RestOptions)).toThrow(message);
  });

  test("takes the ids and the length that its options set", async () => {
    const server = await serveRest(async () => "ok", {
      rest: { idFormat: "uuid", messageChars: 3 },
    });
    const session_id = "0b8f6b6e-7c1f-4c1e-9d53-0f2a6f5c3a11";
    expect(await chat(server, { message: "Hi", session_id })).toMatchObject({ session_id });
    const path = "/agent/helper/chat";
    const long = await server.post(path, { message: "Hello", session_id });
    expect((await problemOf(long)).detail).toBe("message must have at most 3 characters");
    const other = await server.post(path, { message: "Hi", session_id: "x" });
    expect((await problemOf(other)).detail).toBe("session_id must be valid UUID");
  });

  test("takes any id where its options allow it", async () => {
    const server = await serveRest(async () => "ok", { rest: { idFormat: "any" } });
    const answer = await chat(server, { message: "Hi", session_id: "user-123" });
    expect(answer.session_id).toBe("user-123");
    const body = { message: "Hi", session_id: "a b" };
    const response = await server.post("/agent/helper/chat", body);
    expect((await problemOf(response)).detail).toBe(
      "session_id must be 1 to 256 visible characters",
    );
  });

  test("knows the agents of a map by their names, and the first as default", async () => {
    const server = await serveRest({ one: async () => "1", two: async () => "2" });
    const answers = ["one", "two", "default"].map(async (name) => {
      const response = await server.post(`/agent/${name}/chat`, { message: "Hi" });
      return ((await response.json()) as { content: string }).content;
    });
    expect(await Promise.all(answers)).toEqual(["1", "2", "1"]);
  });

  test("stands beside other paths of the host", async () => {
    const handler = createAgentHandler(async () => "ok", { protocols: [rest()] });
    const response = await handler.fetch(new Request("http://test.local/agent"));
    expect(response.status).toBe(404);
    await handler.close();
  });
});

describe("what OpenAPI describes", () => {
  const operations = async (options?: RestOptions): Promise<Json[]> =>
    Promise.all(
      rest(options)
        .routes(host)
        .map(async ({ operation }) => operation!()),
    );

  test("names every operation once, however many paths lead there", async () => {
    const ids = (await operations({ path: ["/a", "/b"], sessionsPath: ["/c", "/d"] })).map(
      ({ operationId, tags }) => [operationId, tags],
    );
    expect(ids).toEqual([
      ["restChat", ["rest"]],
      ["restChatStream", ["rest"]],
      ["restChat2", ["rest"]],
      ["restChatStream2", ["rest"]],
      ["restDeleteSession", ["rest"]],
      ["restDeleteSession2", ["rest"]],
    ]);
  });

  test("is what requests are checked by", async () => {
    const [whole, stream, gone] = await operations();
    expect(whole).toMatchObject({
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["message"],
              properties: {
                message: { type: "string", minLength: 1, maxLength: 10_000, pattern: "\\S" },
                files: { anyOf: [{ type: "array", maxItems: 10 }, { type: "null" }] },
              },
            },
          },
          "multipart/form-data": {
            schema: { properties: { files: { items: { type: "string", format: "binary" } } } },
          },
        },
      },
    });
    expect(stream).toMatchObject({
      responses: { "200": { content: { "text/event-stream": { schema: { type: "string" } } } } },
    });
    expect(gone).toMatchObject({ responses: { "204": {} } });
    expect(JSON.stringify([whole, stream, gone])).not.toContain("$schema");
  });

  test("fits the answers", async () => {
    const [whole] = (await operations()) as [
      { responses: { "200": { content: { "application/json": { schema: object } } } } },
    ];
    const { schema } = whole.responses["200"].content["application/json"];
    const agent = serveRest(async (_, { emit }) => {
      emit.toolCall("add", { a: 1 });
      emit.usage({ inputTokens: 1, outputTokens: 2 });
      return "ok";
    });
    const answer = await chat(await agent, { message: "Hi" });
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    expect(parsed.safeParse(answer)).toMatchObject({ success: true });
    expect(parsed.safeParse({ ...answer, tool_calls: null }).success).toBe(false);
  });
});
