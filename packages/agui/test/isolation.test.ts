import type { BaseEvent } from "@holodeck/agui-core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { allowAnonymous, createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post } from "./_helpers.ts";
import { operationsOf } from "./_operations.ts";

const body = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };

/** One operation as somebody who is not the owner of the ids in it. */
interface Attempt {
  readonly request: (user: string) => Request;
  /** What it may do with somebody else's ids. */
  readonly answer: "creates" | "is not found" | "knows no ids";
}

const as = (user: string): { headers: Record<string, string> } => ({
  headers: { "x-user": user },
});
const at = (path: string, method: string, user: string): Request =>
  new Request(`http://test.local${path}`, { method, ...as(user) });

/** Every operation of the OpenAPI document. A new one has no line here, and fails the first test. */
const attempts: Readonly<Record<string, Attempt>> = {
  "POST /agui": { request: (user) => post(body, as(user)), answer: "creates" },
  "GET /agui/info": {
    request: (user) => at("/agui/info", "GET", user),
    answer: "knows no ids",
  },
  "GET /agui/runs/{runId}/events": {
    request: (user) => at("/agui/runs/r/events", "GET", user),
    answer: "is not found",
  },
  "POST /agui/runs/{runId}/stop": {
    request: (user) => at("/agui/runs/r/stop", "POST", user),
    answer: "is not found",
  },
  ...Object.fromEntries(
    ["/health", "/ready", "/health/agent", "/openapi.json"].map((path): [string, Attempt] => [
      `GET ${path}`,
      { request: (user) => at(path, "GET", user), answer: "knows no ids" },
    ]),
  ),
};
const reading = Object.keys(attempts).filter((route) => attempts[route]!.answer === "is not found");

/** Ann's run, in the middle of its answer; nobody else's ever waits. */
async function annRuns(): Promise<{
  handler: AgentHandler;
  events: Promise<BaseEvent[]>;
  finish: () => void;
}> {
  const [half, rest] = [deferred(), deferred()];
  const handler = createAgentHandler(
    async function* (_input, { principal }) {
      yield `a secret of ${principal!.id}`;
      half.resolve();
      if (principal!.id === "ann") await rest.promise;
    },
    {
      logger: memoryLogger(),
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody" }),
    },
  );
  const events = handler.fetch(attempts["POST /agui"]!.request("ann")).then(eventsOf);
  await half.promise;
  return { handler, events, finish: rest.resolve };
}

describe("somebody else's ids", () => {
  test("are tried on every operation there is", async () => {
    const handler = createAgentHandler(async () => "a", { logger: memoryLogger() });
    expect(Object.keys(attempts).sort()).toEqual(operationsOf(await handler.openapi()).sort());
  });

  describe.for(["while the run goes on", "after its end"])("%s", (when) => {
    test.for(Object.keys(attempts))("are worth nothing on %s", async (route) => {
      const { handler, events, finish } = await annRuns();
      if (when === "after its end") {
        finish();
        await events;
      }
      const { request, answer } = attempts[route]!;
      const before = await handler.sessions.get({ principal: "ann", threadId: "t" });
      const response = await handler.fetch(request("bob"));
      const text = await response.text();
      expect(response.status).toBe(answer === "is not found" ? 404 : 200);
      expect(text).not.toContain("ann");
      if (answer === "creates") expect(text).toContain("a secret of bob");
      const hasOwn =
        (await handler.sessions.get({ principal: "bob", threadId: "t" })) !== undefined;
      expect(hasOwn).toBe(answer === "creates");

      // Ann notices nothing.
      expect(await handler.sessions.get({ principal: "ann", threadId: "t" })).toEqual(before);
      finish();
      expect((await events).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
      expect((await events).at(-1)).not.toHaveProperty("outcome.type", "cancelled");
      for (const own of reading) {
        expect((await handler.fetch(attempts[own]!.request("ann"))).status, own).toBe(200);
      }
    });
  });

  test("do not reach a thread through a run id of one's own", async () => {
    const { handler, events, finish } = await annRuns();
    const own = await handler.fetch(post({ ...body, runId: "mine" }, as("bob")));
    expect(await own.text()).not.toContain("ann");
    finish();
    await events;
    const session = await handler.sessions.get({ principal: "bob", threadId: "t" });
    expect(session!.lastRunId).toBe("mine");
  });
});

describe("a server that asks nobody who they are", () => {
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

  test("says so once in production", async () => {
    expect(await warnings({}, "production")).toEqual([
      "No authenticate: whoever knows the id of a thread can read it.",
    ]);
  });

  test("says so too when the first request starts it", async () => {
    vi.stubEnv("NODE_ENV", "production");
    const logger = memoryLogger();
    const handler = createAgentHandler(async () => "a", { logger });
    for (const runId of ["r1", "r2"]) await (await handler.fetch(post({ ...body, runId }))).text();
    expect(logger.records.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test.for(["development", "test", undefined])("says nothing where NODE_ENV is %s", async (env) => {
    expect(await warnings({}, env)).toEqual([]);
  });

  test("says nothing when that is what its host wants", async () => {
    expect(await warnings({ authenticate: allowAnonymous() }, "production")).toEqual([]);
  });
});
