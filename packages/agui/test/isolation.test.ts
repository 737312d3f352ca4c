import type { BaseEvent, Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post } from "./_helpers.ts";
import { operationsOf } from "./_operations.ts";

const body = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };

// Who they are must not turn up by chance in what a server says.
const ann = "ann@example.com";
const bob = "bob@example.com";

/** What Ann has: a run on a thread, another on a session, and a client tool that is waited for. */
interface Ids {
  readonly executionId: string;
}
// Ids that every protocol takes: UUIDs, and for REST ULIDs.
const threadId = "11111111-2222-4333-8444-555555555555";
const sessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const run = { ...body, threadId };

/** One operation as somebody who is not the owner of the ids in it. */
interface Attempt {
  readonly path: string;
  /** A function: made of Ann's ids. */
  readonly body?: unknown;
  /** What it may do with somebody else's ids. */
  readonly answer: "creates" | "is not found" | "shows nothing";
  /** Instead of 200. */
  readonly status?: number;
}

const message = { id: "m", role: "user" };
const uiChat = { id: threadId, messages: [{ ...message, parts: [{ type: "text", text: "hi" }] }] };
const v4Chat = { id: threadId, messages: [{ ...message, content: "hi" }] };
const inside = (method: string, params: object, inner?: unknown): object => ({
  method,
  params: { agentId: "default", ...params },
  ...(inner === undefined ? {} : { body: inner }),
});
const resource = (httpMethod: string, path: string): object =>
  inside("resource/request", { httpMethod, path: `/threads/${threadId}${path}` });

function vercelAt(path: string): Record<string, readonly Attempt[]> {
  return {
    [`POST ${path}`]: [
      { path, body: uiChat, answer: "creates" },
      { path, body: v4Chat, answer: "creates" },
      { path, body: { id: threadId, message: uiChat.messages[0] }, answer: "creates" },
    ],
    [`GET ${path}`]: [{ path: `${path}?chatId=${threadId}`, answer: "shows nothing" }],
    [`GET ${path}/{id}/stream`]: [
      { path: `${path}/${threadId}/stream`, answer: "shows nothing", status: 204 },
    ],
    [`POST ${path}/{id}/stop`]: [{ path: `${path}/${threadId}/stop`, answer: "shows nothing" }],
  };
}

/** Every operation of the OpenAPI document. A new one has no line here, and fails the first test. */
const attempts: Readonly<Record<string, readonly Attempt[]>> = {
  "POST /agui": [
    { path: "/agui", body: run, answer: "creates" },
    { path: "/agui", body: inside("agent/run", {}, run), answer: "creates" },
    { path: "/agui", body: inside("agent/connect", {}, { threadId }), answer: "shows nothing" },
    { path: "/agui", body: inside("agent/stop", { threadId }), answer: "shows nothing" },
    { path: "/agui", body: resource("GET", "/messages"), answer: "is not found" },
    { path: "/agui", body: resource("DELETE", ""), answer: "is not found" },
  ],
  "GET /agui/info": [{ path: "/agui/info", answer: "shows nothing" }],
  "GET /agui/runs/{runId}/events": [{ path: "/agui/runs/r/events", answer: "is not found" }],
  "POST /agui/runs/{runId}/stop": [{ path: "/agui/runs/r/stop", answer: "is not found" }],
  "POST /agui/agent/{agentId}/run": [
    { path: "/agui/agent/default/run", body: run, answer: "creates" },
  ],
  "POST /agui/agent/{agentId}/connect": [
    { path: "/agui/agent/default/connect", body: { threadId }, answer: "shows nothing" },
  ],
  "POST /agui/agent/{agentId}/suggest": [
    { path: "/agui/agent/default/suggest", body: run, answer: "shows nothing" },
  ],
  "POST /agui/agent/{agentId}/stop/{threadId}": [
    { path: `/agui/agent/default/stop/${threadId}`, answer: "shows nothing" },
    {
      path: `/agui/agent/default/stop/${threadId}`,
      body: { runId: "r" },
      answer: "shows nothing",
    },
  ],
  "GET /agui/threads": [{ path: "/agui/threads", answer: "shows nothing" }],
  "PATCH /agui/threads/{threadId}": [
    { path: `/agui/threads/${threadId}`, body: { name: "Mine" }, answer: "is not found" },
  ],
  "DELETE /agui/threads/{threadId}": [
    { path: `/agui/threads/${threadId}`, answer: "is not found" },
  ],
  "POST /agui/threads/{threadId}/archive": [
    { path: `/agui/threads/${threadId}/archive`, body: {}, answer: "is not found" },
  ],
  ...Object.fromEntries(
    ["messages", "events", "state"].map((what): [string, readonly Attempt[]] => [
      `GET /agui/threads/{threadId}/${what}`,
      [{ path: `/agui/threads/${threadId}/${what}`, answer: "is not found" }],
    ]),
  ),
  ...vercelAt("/api/chat"),
  ...vercelAt("/chat"),
  "POST /chat": [
    ...vercelAt("/chat")["POST /chat"]!,
    { path: "/chat", body: { message: "hi", thread_id: threadId }, answer: "is not found" },
    {
      path: "/chat",
      body: { message: "hi", thread_id: threadId, stream: false },
      answer: "is not found",
    },
  ],
  "POST /agent/{name}/chat": [
    {
      path: "/agent/default/chat",
      body: { message: "hi", session_id: sessionId },
      answer: "creates",
    },
  ],
  "POST /agent/{name}/chat/stream": [
    {
      path: "/agent/default/chat/stream",
      body: { message: "hi", session_id: sessionId },
      answer: "creates",
    },
  ],
  // Absent or somebody else's: it is gone either way.
  "DELETE /sessions/{id}": [
    { path: `/sessions/${sessionId}`, answer: "shows nothing", status: 204 },
  ],
  "GET /threads": [{ path: "/threads", answer: "shows nothing" }],
  "GET /threads/{id}": [{ path: `/threads/${threadId}`, answer: "is not found" }],
  "POST /threads/{id}/abort": [{ path: `/threads/${threadId}/abort`, answer: "is not found" }],
  "DELETE /threads/{id}": [{ path: `/threads/${threadId}`, answer: "is not found" }],
  "POST /tool_result": [
    {
      path: "/tool_result",
      body: ({ executionId }: Ids) => ({
        execution_id: executionId,
        execution_time_ms: 1,
        result: "from bob",
      }),
      answer: "is not found",
    },
  ],
  ...Object.fromEntries(
    ["/health", "/ready", "/health/agent", "/openapi.json"].map(
      (path): [string, readonly Attempt[]] => [`GET ${path}`, [{ path, answer: "shows nothing" }]],
    ),
  ),
};

const all = Object.entries(attempts).flatMap(([route, list]) =>
  list.map((attempt, index): [string, number, Attempt] => [route, index + 1, attempt]),
);

const as = (user: string): { headers: Record<string, string> } => ({
  headers: { "x-user": user },
});

function toRequest(
  route: string,
  { path, body: given }: Omit<Attempt, "answer">,
  { user, ...ids }: Ids & { user: string },
): Request {
  const sent: unknown = typeof given === "function" ? given(ids) : given;
  return new Request(`http://test.local${path}`, {
    method: route.split(" ")[0]!,
    headers: {
      "x-user": user,
      ...(sent === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
}

interface Running extends Ids {
  readonly handler: AgentHandler;
  readonly events: Promise<BaseEvent[]>;
  finish(): Promise<void>;
}

/** Ann's runs, in the middle of their answers; nobody else's ever waits. */
async function annRuns(): Promise<Running> {
  const rest = deferred();
  const started = [deferred(), deferred()];
  let begun = 0;
  const handler = createAgentHandler(
    async function* ({ tools }, { principal, callTool }) {
      yield `a secret of ${principal!.id}`;
      if (tools.length > 0) yield ` who got ${String(await callTool("pick", {}))}`;
      else if (principal!.id === ann) {
        started[begun++]?.resolve();
        await rest.promise;
      }
    },
    {
      logger: memoryLogger(),
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody" }),
    },
  );
  const events = handler.fetch(post(run, as(ann))).then(eventsOf);
  const session = { ...run, threadId: sessionId, runId: "s" };
  const others = handler.fetch(post(session, as(ann))).then(eventsOf);
  await Promise.all(started.map(({ promise }) => promise));

  const chat = { message: "pick", tools: [{ name: "pick" }] };
  const asked = readSse(await handler.fetch(post(chat, { ...as(ann), path: "/chat" })));
  const next = async (): Promise<Json> => {
    const { value, done } = await asked.next();
    return done ? {} : (JSON.parse(value.data) as Json);
  };
  let event = await next();
  while (event.event === "token") event = await next();
  const executionId = String(event.execution_id);
  const finish = async (): Promise<void> => {
    rest.resolve();
    const result = { execution_id: executionId, execution_time_ms: 1, result: "from ann" };
    await handler.fetch(post(result, { ...as(ann), path: "/tool_result" }));
    let text = "";
    for (let last = await next(); "event" in last; last = await next())
      text += JSON.stringify(last);
    expect(text).toContain("who got from ann");
    await Promise.all([events, others]);
  };
  return { handler, events, executionId, finish };
}

describe("ids of another user", () => {
  test("are tried on every operation there is", async () => {
    const handler = createAgentHandler(async () => "a", { logger: memoryLogger() });
    expect(Object.keys(attempts).sort()).toEqual(operationsOf(await handler.openapi()).sort());
  });

  describe.for(["while the run goes on", "after its end"])("%s", (when) => {
    test.for(all)("are worth nothing on %s", async ([route, , attempt]) => {
      const { handler, events, executionId, finish } = await annRuns();
      if (when === "after its end") await finish();
      const { answer, status = answer === "is not found" ? 404 : 200 } = attempt;
      const threadsOf = async (user: string): Promise<unknown[]> =>
        (await handler.sessions.list({ principal: user, limit: 10 })).items.slice();
      const before = await threadsOf(ann);
      expect(before).toHaveLength(3);

      const response = await handler.fetch(toRequest(route, attempt, { executionId, user: bob }));
      const text = await response.text();
      expect(response.status, text).toBe(status);
      expect(text).not.toContain(ann);
      if (answer === "creates") expect(text).toContain(`a secret of ${bob}`);
      expect(await threadsOf(bob)).toHaveLength(answer === "creates" ? 1 : 0);

      // Ann notices nothing.
      expect(await threadsOf(ann)).toEqual(before);
      if (when === "while the run goes on") await finish();
      expect((await events).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      expect((await events).at(-1)).not.toHaveProperty("outcome.type", "cancelled");
    });
  });

  test.for(all.filter(([, , { answer }]) => answer === "is not found"))(
    "are known to their owner on %s (%i)",
    async ([route, , attempt]) => {
      const { handler, executionId } = await annRuns();
      const own = await handler.fetch(toRequest(route, attempt, { executionId, user: ann }));
      // Busy, which only somebody's own thread can be.
      if (route === "POST /chat") expect(own.status).toBe(409);
      else expect(own.status).toBeLessThan(300);
      await handler.close({ timeoutMs: 10 });
    },
  );

  test("do not reach a thread through a run id of one's own", async () => {
    const { handler, events, finish } = await annRuns();
    const own = await handler.fetch(post({ ...run, runId: "mine" }, as(bob)));
    expect(await own.text()).not.toContain(ann);
    await finish();
    await events;
    const session = await handler.sessions.get({ principal: bob, threadId });
    expect(session!.lastRunId).toBe("mine");
  });
});

describe("a server without authentication", () => {
  afterEach(() => void vi.unstubAllEnvs());
  const warnings = async (
    options: Parameters<typeof createAgentHandler>[1],
    nodeEnv: string | undefined,
  ): Promise<unknown[]> => {
    vi.stubEnv("NODE_ENV", nodeEnv);
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "a", { ...options, logger });
    await handler.start();
    await handler.start();
    await (await handler.fetch(post(body))).text();
    return logger.records.filter(({ level }) => level === "warn").map(({ message }) => message);
  };

  test("warns once in production", async () => {
    expect(await warnings({}, "production")).toEqual([
      "No authenticate option: anyone who knows a thread's id can read it.",
    ]);
  });

  test("warns also when the first request starts it", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "a", { logger });
    for (const runId of ["r1", "r2"]) await (await handler.fetch(post({ ...body, runId }))).text();
    expect(logger.records.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test.for(["development", "test", undefined])(
    "does not warn where NODE_ENV is %s",
    async (env) => {
      expect(await warnings({}, env)).toEqual([]);
    },
  );

  test("does not warn when that is what its host wants", async () => {
    expect(await warnings({ authenticate: allowAnonymous() }, "production")).toEqual([]);
  });
});
