import type { BaseEvent, Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { attemptsOn, toRequest } from "./_attempts.ts";
import type { Asked, Attempt } from "./_attempts.ts";
import { everyProtocol } from "./_every-protocol.ts";
import { deferred, eventsOf, memoryLogger, post } from "./_helpers.ts";
import { operationsOf } from "./_operations.ts";

const body = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };

// Who they are must not turn up by chance in what a server says.
const ann = "ann@example.com";
const bob = "bob@example.com";

// Ids that every protocol takes: UUIDs, and for REST ULIDs.
const threadId = "11111111-2222-4333-8444-555555555555";
const sessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const run = { ...body, threadId };
const attempts = attemptsOn({ threadId, sessionId, runId: "r" });

const all = Object.entries(attempts).flatMap(([route, list]) =>
  list.map((attempt, index): [string, number, Attempt] => [route, index + 1, attempt]),
);

const as = (user: string): { headers: Record<string, string> } => ({
  headers: { "x-user": user },
});

const busyRoutes = ["POST /chat", "POST /v1/responses"];

interface Running extends Asked {
  readonly handler: AgentHandler;
  readonly events: Promise<BaseEvent[]>;
  finish(): Promise<void>;
}

/** Ann's runs, in the middle of their answers; nobody else's ever waits. */
async function annRuns(): Promise<Running> {
  const rest = deferred();
  const started = [deferred(), deferred(), deferred()];
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
      protocols: everyProtocol(),
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody" }),
    },
  );
  const events = handler.fetch(post(run, as(ann))).then(eventsOf);
  const session = { ...run, threadId: sessionId, runId: "s" };
  const others = handler.fetch(post(session, as(ann))).then(eventsOf);
  const created = { input: "hi", stream: true };
  const response = readSse(
    await handler.fetch(post(created, { ...as(ann), path: "/v1/responses" })),
  );
  const { value: first } = await response.next();
  const responseId = String((JSON.parse(first!.data) as { response: Json }).response.id);
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
    for await (const { data } of response) text += data;
    expect(text).toContain("response.completed");
    await Promise.all([events, others]);
  };
  return { handler, events, executionId, responseId, finish };
}

describe("ids of another user", () => {
  test("are tried on every operation there is", async () => {
    const handler = createAgentHandler(async () => "a", {
      logger: memoryLogger(),
      protocols: everyProtocol(),
    });
    expect(Object.keys(attempts).sort()).toEqual(operationsOf(await handler.openapi()).sort());
  });

  describe.for(["while the run goes on", "after its end"])("%s", (when) => {
    test.for(all)("are worth nothing on %s", async ([route, , attempt]) => {
      const { handler, events, finish, ...asked } = await annRuns();
      if (when === "after its end") await finish();
      const { answer, status = answer === "is not found" ? 404 : 200 } = attempt;
      const threadsOf = async (user: string): Promise<unknown[]> =>
        (await handler.sessions.list({ principal: user, limit: 10 })).items.slice();
      const before = await threadsOf(ann);
      expect(before).toHaveLength(4);

      const response = await handler.fetch(toRequest(route, attempt, { ...asked, user: bob }));
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
      const { handler, executionId, responseId } = await annRuns();
      const asked = { executionId, responseId, user: ann };
      const own = await handler.fetch(toRequest(route, attempt, asked));
      // Busy, which only a thread of the caller can be.
      if (busyRoutes.includes(route)) expect([200, 409]).toContain(own.status);
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
