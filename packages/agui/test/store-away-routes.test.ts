import { AgentError } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandlerOptions, SessionStore } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const cause = new Error("connect ECONNREFUSED 127.0.0.1:6379");

/** A store of which every call fails. */
function awayStore(): SessionStore {
  const away = (): never => {
    throw new AgentError("store-unavailable", "The store is not reachable.", { cause });
  };
  const fail = <T extends object>(parts: T): T =>
    new Proxy(parts, {
      get(target, name) {
        if (name === "runs") return fail(memorySessions().runs);
        if (name === "blobs") return undefined;
        return typeof Reflect.get(target, name) === "function" ? away : Reflect.get(target, name);
      },
    });
  return fail(memorySessions());
}

const logger = memoryLogger();
const options: AgentHandlerOptions = {
  logger,
  sessions: awayStore(),
  authenticate: () => ({ id: "ann" }),
};
const { fetch, openapi } = createAgentHandler(async () => "hello", options);

const uuid = "0b3c8a52-6f5e-4c1d-9a55-3a1a7b0d9a11";
const ulid = "01J9Z3N5W8Q4T6Y2R7V1X0KBCD";
const say = [{ id: "m", role: "user", content: "hi", parts: [{ type: "text", text: "hi" }] }];
const execution = { thread_id: uuid, execution_id: "r-1", execution_time_ms: 1 };
const run = { threadId: "t", runId: "r", messages: say, tools: [], context: [], state: {} };
const bodies: Readonly<Record<string, object>> = {
  "/tool_result": { ...execution, result: "1", success: true },
  "/agui/threads/{threadId}": { name: "new", agentId: "default" },
};
const common = { ...run, id: "c", message: "hi", agentId: "default" };

// Descriptions, health, and runs without a thread.
const withoutStore = [
  "GET /agui/info",
  "POST /agui/agent/{agentId}/suggest",
  "GET /health",
  "GET /ready",
  "GET /health/agent",
  "GET /openapi.json",
];

describe("while the store is away", async () => {
  const { paths } = (await openapi()) as { paths: Record<string, Record<string, object>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const asking = routes.filter((route) => !withoutStore.includes(route));

  test("every protocol is asked", () => {
    expect(asking.length).toBeGreaterThan(20);
  });

  test.for(asking)("%s logs why, once, with the request's id", async (route) => {
    logger.records.length = 0;
    const [method = "", path = ""] = route.split(" ");
    const id = path.startsWith("/sessions") ? ulid : uuid;
    const filled = path.replaceAll(/\{(agentId|name)\}/g, "default").replaceAll(/\{\w+\}/g, id);
    const url = `http://test.local${filled}?chatId=${uuid}&threadId=${uuid}`;
    const body = JSON.stringify(bodies[path] ?? common);
    const response = await fetch(
      new Request(url, {
        method,
        headers: { "content-type": "application/json", "x-request-id": "req-1" },
        ...(method === "GET" ? {} : { body }),
      }),
    );
    const text = await response.text();
    expect(`${response.status} ${text}`).toMatch(/^503|store/i);
    const errors = logger.records.filter(({ level }) => level === "error");
    expect(errors).toMatchObject([{ error: { cause }, requestId: "req-1" }]);
  });
});
