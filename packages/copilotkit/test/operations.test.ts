import type { Json, ProtocolHost, Route } from "@holodeck/agui-core";
import { expect, test } from "vitest";
import { copilotkit } from "../src/index.ts";

function routesOf(path: string | string[]): readonly Route[] {
  return copilotkit({ path }).routes({} as ProtocolHost);
}

test("every route describes for OpenAPI what it takes and answers", async () => {
  for (const route of routesOf("/agui")) {
    const operation = (await route.operation?.()) as Json;
    expect(operation.summary).toMatch(/\.$/);
    expect(operation.responses).toHaveProperty(["200", "content"]);
    expect(operation.requestBody !== undefined).toBe(route.body !== undefined);
    expect(JSON.stringify(operation)).not.toContain("$ref");
  }
});

test("no two operations of one document have the same name", async () => {
  const routes = routesOf(["/agui", "/", "/ck"]).filter(({ shared }) => !shared);
  const operations = await Promise.all(routes.map(async (route) => route.operation?.()));
  const ids = operations.map((operation) => operation?.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain(undefined);
});

test("a run takes the input of AG-UI", async () => {
  const route = routesOf("/agui").find(({ path }) => path.endsWith("/run"));
  expect(await route?.operation?.()).toMatchObject({
    operationId: "copilotkitRun",
    tags: ["copilotkit"],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { type: "object", properties: { threadId: { type: "string" }, messages: {} } },
        },
      },
    },
    responses: { 200: { content: { "text/event-stream": { schema: { type: "string" } } } } },
  });
});

test("a list describes its query", async () => {
  const route = routesOf("/agui").find(
    ({ method, path }) => method === "GET" && path.endsWith("s"),
  );
  expect(await route?.operation?.()).toMatchObject({
    parameters: [
      { name: "agentId", in: "query", required: false },
      { name: "includeArchived", schema: { enum: ["true", "false"] } },
      { name: "limit", schema: { type: "integer", minimum: 1, maximum: 100 } },
      { name: "cursor" },
    ],
  });
});
