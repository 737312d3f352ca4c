import { createAgentHandler } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import type { SessionStore } from "@holodeck/agui-core";
import { agui } from "@holodeck/agui-protocol";
import { memorySessions } from "@holodeck/agui-sessions";
import { describe, expect, test } from "vitest";
import { copilotkit } from "../src/index.ts";
import { createStage } from "./_agent.ts";
import { byHeader, createHandler, host } from "./_host.ts";
import { ask, begin, input, typesOf } from "./_wire.ts";

const quiet = { logger: silentLogger };
const run = "POST /agui/agent/default/run";
const connect = "POST /agui/agent/default/connect";
const endpoint = "POST /agui";

/** The same request as a route and inside an envelope. */
const ways = [
  ["by its route", (route: string, body?: unknown) => ({ route, body })],
  ["in an envelope", toEnvelope],
] as const;

function toEnvelope(route: string, body?: unknown): { route: string; body: unknown } {
  const [, , , agentId, verb, threadId] = route.split(/[ /]+/);
  return {
    route: endpoint,
    body: { method: `agent/${verb}`, params: { agentId, threadId }, body },
  };
}

/** Where `true` stands in a JSON value. */
function flagsOf(value: unknown, path = ""): string[] {
  if (value === true) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    flagsOf(inner, path === "" ? key : `${path}.${key}`),
  );
}

describe("copilotkit", () => {
  test("is mounted where it is wanted", () => {
    const at = (path: string | string[]): string[] => {
      const { info } = createAgentHandler(createStage().agent, {
        ...quiet,
        protocols: [copilotkit({ path })],
        health: false,
        openapi: false,
      });
      return info().routes as string[];
    };
    expect(at("/ck")).toEqual([
      "POST /ck",
      "GET /ck/info",
      "POST /ck/agent/:agentId/run",
      "POST /ck/agent/:agentId/connect",
      "POST /ck/agent/:agentId/suggest",
      "POST /ck/agent/:agentId/stop/:threadId",
      "GET /ck/threads",
      "PATCH /ck/threads/:threadId",
      "DELETE /ck/threads/:threadId",
      "POST /ck/threads/:threadId/archive",
      "GET /ck/threads/:threadId/messages",
      "GET /ck/threads/:threadId/events",
      "GET /ck/threads/:threadId/state",
    ]);
    expect(at(["/a", "/"])).toEqual(
      expect.arrayContaining(["POST /a", "GET /a/info", "POST /", "GET /info", "GET /threads"]),
    );
  });

  test.for<[unknown, string]>([
    [{ path: "ck" }, 'copilotkit({ path: "ck" }) must start with "/".'],
    [{ path: 7 }, "copilotkit({ path: 7 }) must start with"],
    [{ path: [] }, "needs at least one"],
    [{ paths: "/ck" }, "paths is not an option of copilotkit. Did you mean path?"],
    ["/ck", 'The options of copilotkit must be an object, not "/ck".'],
  ])("refuses %j", ([options, message]) => {
    expect(() => copilotkit(options as never)).toThrow(message);
  });

  test("needs no other protocol beside it", async () => {
    const handler = createHandler(createStage(), { protocols: [copilotkit()] });
    const { json } = await ask(handler, "GET /agui/info");
    expect(Object.keys(json.agents as object)).toEqual(["default", "other"]);
    expect((await ask(handler, endpoint, { body: { method: "info" } })).json).toEqual(json);
    expect(typesOf(await ask(handler, run, { body: input("t", "hi") })).at(-1)).toBe(
      "RUN_FINISHED",
    );
    const { status, json: problem } = await ask(handler, endpoint, { body: input("t", "hi") });
    expect({ status, code: problem.code }).toEqual({ status: 400, code: "invalid-request" });
  });

  test("shares discovery and its path with AG-UI", async () => {
    const handler = createHandler(createStage());
    const routes = handler.info().routes as string[];
    expect(routes.filter((route) => route === "GET /agui/info")).toHaveLength(1);
    expect(routes.filter((route) => route === "POST /agui")).toHaveLength(1);
    const answer = await ask(handler, endpoint, { body: input("t", "hi") });
    expect(typesOf(answer)[0]).toBe("RUN_STARTED");
    // A run input may have a member of that name; it is still a run input.
    const odd = await ask(handler, endpoint, { body: { ...input("t", "ho"), method: "info" } });
    expect(typesOf(odd)[0]).toBe("RUN_STARTED");
  });

  test("sends its headers before the agent sends a word", async () => {
    const stage = createStage();
    const { url } = await host(stage);
    const response = await fetch(`${url}/agent/default/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input("t", "silence")),
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(stage.runs).toBe(1);
    stage.gate.open();
    expect(await response.text()).toContain("spoken at last");
  });
});

describe("discovery", () => {
  test("is one JSON for every client", async () => {
    const handler = createAgentHandler(
      {
        legal: {
          agent: createStage().agent,
          name: "Legal eagle",
          description: "Reads contracts",
          profile: "A lawyer",
          goal: "No surprises",
          constraints: ["no advice"],
          team: "risk",
        },
      },
      {
        ...quiet,
        protocols: [agui(), copilotkit()],
        info: { service: "flagpilot", version: "2.1.0" },
        tools: [{ name: "search", description: "Finds.", parameters: {}, invoke: () => "" }],
      },
    );
    const { json } = await ask(handler, "GET /agui/info");
    const tools = [{ name: "search", description: "Finds.", parameters: {} }];
    expect(json).toMatchObject({
      service: "flagpilot",
      version: "2.1.0",
      agents: {
        legal: {
          id: "legal",
          name: "Legal eagle",
          description: "Reads contracts",
          profile: "A lawyer",
          goal: "No surprises",
          constraints: ["no advice"],
          team: "risk",
          className: "Agent",
          tools,
          capabilities: {
            transport: { streaming: true, httpBinary: true, resumable: true },
            tools: { supported: true, items: tools },
          },
        },
      },
      defaultAgent: "legal",
      mode: "sse",
      suggestions: true,
      telemetryDisabled: true,
      audioFileTranscriptionEnabled: false,
    });
    expect(json).not.toHaveProperty("capabilities");
    expect(json).not.toHaveProperty("licenseStatus");
  });

  test("sends no flag that no test uses", async () => {
    const { json } = await ask(createHandler(createStage()), "GET /agui/info");
    expect(flagsOf(json).sort()).toEqual([
      // packages/protocol/test/agui.test.ts, packages/agui/test/resume-property.test.ts
      "agents.default.capabilities.transport.httpBinary",
      "agents.default.capabilities.transport.resumable",
      "agents.default.capabilities.transport.streaming",
      "agents.other.capabilities.transport.httpBinary",
      "agents.other.capabilities.transport.resumable",
      "agents.other.capabilities.transport.streaming",
      // The thread store of 1.75 over its single endpoint, in thread-store.test.ts
      "singleRoute.resourceOperations",
      "singleRoute.threadEndpoints.inspect",
      "singleRoute.threadEndpoints.list",
      "singleRoute.threadEndpoints.mutations",
      // clients.test.ts
      "suggestions",
      // What it turns off is CopilotKit's own.
      "telemetryDisabled",
      // Below, and thread-store.test.ts
      "threadEndpoints.inspect",
      "threadEndpoints.list",
      "threadEndpoints.mutations",
    ]);
  });

  test.for([
    ["with authenticate", true],
    ["without", false],
  ] as const)("reports whether threads are listed, %s", async ([, isListed]) => {
    const options = isListed ? {} : { authenticate: undefined as never };
    const handler = createHandler(createStage(), options);
    const { json } = await ask(handler, "GET /agui/info");
    const threadEndpoints = {
      list: isListed,
      inspect: true,
      mutations: true,
      realtimeMetadata: false,
    };
    expect(json).toMatchObject({
      threadEndpoints,
      singleRoute: { resourceOperations: true, threadEndpoints },
    });
    expect((await ask(handler, "GET /agui/threads")).status).toBe(isListed ? 200 : 403);
  });
});

describe.for(ways)("a request %s", ([, way]) => {
  const send = (
    handler: ReturnType<typeof createHandler>,
    route: string,
    body?: unknown,
  ): ReturnType<typeof ask> => {
    const { route: to, body: sent } = way(route, body);
    return ask(handler, to, sent === undefined ? {} : { body: sent });
  };

  test("for an agent that is not there is 404, with a message", async () => {
    const handler = createHandler(createStage());
    for (const verb of ["run", "connect", "suggest", "stop/t"]) {
      const answer = await send(handler, `POST /agui/agent/nobody/${verb}`, input("t", "hi"));
      expect(answer.status).toBe(404);
      expect(answer.json).toMatchObject({
        code: "agent-not-found",
        message: "Agent 'nobody' is not loaded on this server",
      });
    }
  });

  test("that is wrong is 400 with what is wrong", async () => {
    const handler = createHandler(createStage());
    const wrong = await send(handler, run, { ...input("t", "hi"), messages: "hi" });
    expect(wrong.status).toBe(400);
    expect(wrong.json.message).toContain("messages must be an array");
    const nowhere = await send(handler, connect, { messages: [] });
    expect(nowhere.status).toBe(400);
    expect(nowhere.json.message).toContain("threadId");
    const late = await send(handler, "POST /agui/agent/default/stop/t", { runId: 7 });
    expect(late.status).toBe(400);
    expect(late.json.message).toContain("runId");
  });

  test("that meets a limit is one RUN_ERROR of a stream", async () => {
    const stage = createStage();
    const handler = createHandler(stage, { limits: { maxConcurrentRuns: 1 } });
    const first = ask(handler, run, { body: input("a", "wait") });
    await stage.waiting.opened;
    const answer = await send(handler, run, input("b", "hi"));
    expect(answer).toMatchObject({ status: 200, type: "text/event-stream" });
    expect(answer.events).toEqual([
      {
        type: "RUN_ERROR",
        code: "capacity-exceeded",
        message: "The server is at its limit of 1 concurrent runs.",
      },
    ]);
    stage.gate.open();
    await first;
  });

  test("to connect has nothing of what failed in the server", async () => {
    const sessions: SessionStore = {
      ...memorySessions(),
      get: () => Promise.reject(new Error("password is hunter2")),
    };
    const handler = createHandler(createStage(), { sessions });
    const answer = await send(handler, connect, { threadId: "t" });
    expect(answer.events).toEqual([
      { type: "RUN_ERROR", code: "internal", message: "The server failed to handle the request." },
    ]);
    expect(answer.text).not.toContain("hunter2");
  });

  test("to connect to an unknown thread is an empty stream", async () => {
    const answer = await send(createHandler(createStage()), connect, { threadId: "t-0" });
    expect(answer).toMatchObject({ status: 200, type: "text/event-stream", text: "" });
  });

  test("to connect brings back the question that waits for an answer", async () => {
    const handler = createHandler(createStage());
    await send(handler, run, input("t", "ask"));
    const { events } = await send(handler, connect, { thread_id: "t" });
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "MESSAGES_SNAPSHOT",
      "STATE_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    const { outcome } = events.at(-1) as unknown as {
      outcome: { type: string; interrupts: { id: string }[] };
    };
    expect(outcome).toMatchObject({
      type: "interrupt",
      interrupts: [{ reason: "confirm", message: "Really?" }],
    });
    const resume = [{ interruptId: outcome.interrupts[0]!.id, status: "resolved", payload: true }];
    const answer = await send(handler, run, input("t", "yes", { resume }));
    expect(typesOf(answer)).toContain("TEXT_MESSAGE_CONTENT");
    const after = await send(handler, connect, { threadId: "t" });
    expect(after.events.at(-1)).toEqual({ type: "RUN_FINISHED", threadId: "t", runId: "r-t-yes" });
  });

  test("to stop ends only the run that is meant", async () => {
    const stage = createStage();
    const { handler, answered } = await begin(stage, "t");
    const stop = "POST /agui/agent/default/stop/t";
    const late = await send(handler, stop, { runId: "r-of-yesterday" });
    expect(late).toMatchObject({ status: 200, json: { stopped: false } });
    expect(stage.aborted).toEqual([]);
    const { json } = await send(handler, stop);
    expect(json).toEqual({ stopped: true, threadId: "t", runId: "r-t-wait" });
    const { events } = await answered;
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r-t-wait",
      result: { status: "cancelled" },
    });
    expect(stage.aborted).toEqual(["stopped"]);
    expect((await send(handler, stop)).json).toMatchObject({ stopped: false });
  });

  test("for suggestions leaves the thread as it was", async () => {
    const stage = createStage();
    const { handler, answered } = await begin(stage, "t");
    const tools = [{ name: "copilotkitSuggest", description: "Suggests.", parameters: {} }];
    const body = input("t", "suggest", { tools });
    const answer = await send(handler, "POST /agui/agent/default/suggest", body);
    expect(typesOf(answer)).toEqual(expect.arrayContaining(["TOOL_CALL_START", "RUN_FINISHED"]));
    stage.gate.open();
    await answered;
    const session = await handler.sessions.get({ principal: "anonymous", threadId: "t" });
    expect(session?.messages.map(({ id }) => id)).not.toContain("u-suggest");
    expect(session?.messages).toHaveLength(2);
  });
});

test("suggestions whose client has left are stopped", async () => {
  const stage = createStage();
  const handler = createHandler(stage, { authenticate: byHeader });
  const headers = { "x-user": "ada" };
  const tools = [{ name: "copilotkitSuggest", description: "Suggests.", parameters: {} }];
  const toolChoice = { type: "function", function: { name: "copilotkitSuggest" } };
  const body = input("t-made-up", "wait", { tools, forwardedProps: { toolChoice } });
  const answered = ask(handler, run, { body, headers });
  await stage.waiting.opened;
  const stop = "POST /agui/agent/default/stop/t-made-up";
  const stranger = await ask(handler, stop, { headers: { "x-user": "eve" } });
  expect(stranger.json).toMatchObject({ stopped: false });
  const stopped = await ask(handler, stop, { headers });
  expect(stopped.json).toEqual({ stopped: true, threadId: "t-made-up" });
  expect((await answered).events.at(-1)).toMatchObject({ result: { status: "cancelled" } });
  expect(stage.aborted).toEqual(["stopped"]);
});

describe("an envelope", () => {
  test.for<[string, object, number, string]>([
    ["an unknown method", { method: "agent/dance" }, 400, "Unknown method"],
    ["what objects inherit", { method: "constructor" }, 400, "Unknown method"],
    [
      "a stop without a thread",
      { method: "agent/stop", params: { agentId: "default" } },
      400,
      "params.threadId",
    ],
    ["parameters that are no object", { method: "info", params: 7 }, 400, "params"],
    [
      "an agent without a name",
      { method: "agent/run", params: { agentId: ["other"] }, body: {} },
      400,
      "params.agentId must be a string, not an array.",
    ],
    ["audio", { method: "transcribe", body: {} }, 404, "does not transcribe"],
    ["a resource without a path", { method: "resource/request", params: {} }, 400, "path"],
    [
      "a resource elsewhere",
      { method: "resource/request", params: { path: "/memories", httpMethod: "GET" } },
      404,
      "No route matches GET",
    ],
    [
      "a resource in a wrong way",
      { method: "resource/request", params: { path: "/threads/clear", httpMethod: "POST" } },
      404,
      "No route matches POST",
    ],
    [
      "a path that is not valid percent-encoding",
      { method: "resource/request", params: { path: "/threads/%E0%A4%A", httpMethod: "DELETE" } },
      400,
      "not valid percent-encoding",
    ],
  ])("is refused with %s", async ([, body, status, message]) => {
    const answer = await ask(createHandler(createStage()), endpoint, { body });
    expect(answer.status).toBe(status);
    expect(answer.json.message).toContain(message);
  });

  test.for(["inspector/metadata", "inspector/learning"])(
    "of %s gets an empty answer",
    async (method) => {
      const answer = await ask(createHandler(createStage()), endpoint, { body: { method } });
      expect(answer).toMatchObject({ status: 204, text: "" });
    },
  );

  test("carries a request to the threads", async () => {
    const handler = createHandler(createStage());
    await ask(handler, run, { body: input("t/1", "hi") });
    const request = (httpMethod: string, path: string, body?: object): ReturnType<typeof ask> =>
      ask(handler, endpoint, {
        body: { method: "resource/request", params: { path, httpMethod }, body },
      });
    await request("PATCH", "/threads/t%2F1", { name: "Trip" });
    const { json } = await request("GET", "/threads?agentId=default&limit=5");
    expect(json.threads).toMatchObject([{ id: "t/1", name: "Trip" }]);
    expect((await request("DELETE", "/threads/t%2F1", {})).json).toMatchObject({ deleted: true });
    expect((await request("GET", "/threads?limit=0")).status).toBe(400);
  });

  test("is not answered to strangers", async () => {
    const handler = createHandler(createStage(), { authenticate: byHeader });
    const answer = await ask(handler, endpoint, { body: { method: "info" } });
    expect(answer).toMatchObject({ status: 401, json: { code: "authentication-required" } });
  });
});

test("a refusal of the host is shown in the host's words", async () => {
  const refuse = {
    name: "refuse",
    admit(): void {
      throw new AgentError("forbidden", "Not on Sundays.");
    },
  };
  const handler = createHandler(createStage(), { middleware: [refuse] });
  const answer = await ask(handler, run, { body: input("t", "hi") });
  expect(answer).toMatchObject({ status: 403, json: { message: "Not on Sundays." } });
});
