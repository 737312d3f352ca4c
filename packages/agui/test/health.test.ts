import type { SessionStore } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { agui, createAgentHandler, memorySessions } from "../src/index.ts";
import type { AgentFunction, AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";

const paths = ["/health", "/ready", "/health/agent"];
const hello: AgentFunction = async () => "hello";
const get = async (handler: AgentHandler, path: string): Promise<Answer> => {
  const response = await handler.fetch(new Request(`http://t${path}`));
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
};
interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const open: AgentHandler[] = [];
function create(
  agent: Parameters<typeof createAgentHandler>[0] = hello,
  options: AgentHandlerOptions = {},
): AgentHandler {
  const handler = createAgentHandler(agent, { logger: memoryLogger(), ...options });
  open.push(handler);
  return handler;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((handler) => handler.close({ timeoutMs: 20 })));
});

describe("the health of a server", () => {
  test("has every field that monitors read", async () => {
    const clock = fakeClock();
    const handler = create(
      { writer: { agent: hello, name: "Writer" } },
      { clock, info: { version: "7.1" } },
    );
    await handler.start();
    await (await handler.fetch(post({ threadId: "a", messages: [say("hi")] }))).text();
    await (await handler.fetch(post({ threadId: "b", messages: [say("hi")] }))).text();
    await clock.advance(1_500);
    expect(await get(handler, "/health")).toEqual({
      status: 200,
      body: {
        status: "healthy",
        state: "running",
        version: "7.1",
        agent_name: "Writer",
        agent_ready: true,
        active_sessions: 2,
        thread_count: 2,
        active_runs: 0,
        uptime_seconds: 1.5,
        checks: [],
      },
    });
  });

  test("has the version of this package when the host names none", async () => {
    const { body } = await get(create(), "/health");
    const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    expect(body.version).toBe((JSON.parse(manifest) as { version: string }).version);
  });

  test("counts the runs that are going, and no session that is over", async () => {
    const clock = fakeClock();
    const rest = deferred();
    const handler = create(
      async function* () {
        yield "…";
        await rest.promise;
      },
      { clock, limits: { runTimeoutMs: 1e9 }, heartbeatMs: 1e9 },
    );
    await handler.start();
    const response = await handler.fetch(post({ messages: [] }));
    expect((await get(handler, "/health")).body).toMatchObject({
      active_runs: 1,
      active_sessions: 1,
    });
    rest.resolve();
    await response.text();
    expect((await get(handler, "/health")).body).toMatchObject({ active_runs: 0 });
    await clock.advance(30 * 60_000);
    expect((await get(handler, "/health")).body).toMatchObject({ active_sessions: 0 });
  });

  test("is reported agent by agent, too", async () => {
    const slow = deferred();
    const handler = create({
      quick: hello,
      slow: { run: hello, name: "Slow", ready: () => slow.promise },
    });
    const starting = handler.start();
    expect(await get(handler, "/health/agent")).toMatchObject({
      status: 200,
      body: {
        status: "healthy",
        agent_ready: true,
        agents: {
          quick: { id: "quick", name: "quick", ready: true },
          slow: { id: "slow", name: "Slow", ready: false },
        },
      },
    });
    slow.resolve();
    await starting;
    expect((await get(handler, "/health/agent")).body).toMatchObject({
      agents: { slow: { ready: true } },
    });
  });

  test("is no secret: it needs no authentication", async () => {
    const asked: string[] = [];
    const authenticate = ({ url }: { url: URL }): null => {
      asked.push(url.pathname);
      return null;
    };
    const handler = create(hello, { authenticate });
    for (const path of paths) expect((await get(handler, path)).status, path).toBe(200);
    expect(asked).toEqual([]);
    expect((await handler.fetch(post({ messages: [] }))).status).toBe(401);
  });

  test.for(paths)("is not kept by caches and answers HEAD at %s", async (path) => {
    const handler = create();
    const response = await handler.fetch(new Request(`http://t${path}`, { method: "HEAD" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toBe("");
  });

  test("goes by the names that the host chose", async () => {
    const handler = create(hello, {
      protocols: [agui({ path: "/only" })],
      health: { path: "/healthz", readyPath: "/readyz", agentPath: false },
    });
    expect((await get(handler, "/healthz")).status).toBe(200);
    expect((await get(handler, "/readyz")).status).toBe(200);
    for (const path of paths) expect((await get(handler, path)).status, path).toBe(404);
  });

  test("can be left to the host", async () => {
    const handler = create(hello, { health: false });
    for (const path of paths) expect((await get(handler, path)).status, path).toBe(404);
  });

  test.for<[AgentHandlerOptions["health"], string]>([
    [{ path: "health" }, 'health.path must be a path that starts with "/", or false, not "health"'],
    [{ chekcs: {} } as never, "Did you mean checks?"],
    [{ checks: { db: true } } as never, "health.checks.db must be a function"],
    [true as never, "not true"],
  ])("refuses %j when it is made", ([health, message]) => {
    expect(() => create(hello, { health: health! })).toThrow(message);
  });
});

describe("readiness", () => {
  test("is 503 until the agents are ready, and then 200", async () => {
    const ready = deferred();
    const handler = create({ run: hello, ready: () => ready.promise });
    const starting = handler.start();
    expect(await get(handler, "/ready")).toEqual({
      status: 503,
      body: { ready: false, state: "initializing" },
    });
    expect(await get(handler, "/health")).toMatchObject({
      status: 200,
      body: { status: "healthy", state: "initializing", agent_ready: false },
    });
    ready.resolve();
    await starting;
    expect(await get(handler, "/ready")).toEqual({
      status: 200,
      body: { ready: true, state: "ready" },
    });
  });

  test("is brought about by a request for it, where the server was not started", async () => {
    expect(await get(create(), "/ready")).toMatchObject({ status: 200, body: { ready: true } });
  });

  test("does not wait for an agent that takes its time", async () => {
    const clock = fakeClock();
    const handler = create({ run: hello, ready: () => new Promise<void>(() => {}) }, { clock });
    const answer = get(handler, "/ready");
    await new Promise(setImmediate);
    await clock.advance(500);
    expect(await answer).toMatchObject({ status: 503, body: { state: "initializing" } });
  });

  test("and health are 503 when an agent cannot be served, until it can", async () => {
    let isBroken = true;
    const validate = (): void => {
      if (isBroken) throw new Error("postgres://user:pw@db");
    };
    const handler = create({ run: hello, validate });
    await expect(handler.start()).rejects.toThrow("not ready");
    for (const path of paths) {
      const { status, body } = await get(handler, path);
      expect(status, path).toBe(503);
      expect(JSON.stringify(body)).not.toContain("postgres");
    }
    expect((await get(handler, "/health")).body).toMatchObject({
      status: "unhealthy",
      agent_ready: false,
    });
    isBroken = false;
    for (const path of paths) expect((await get(handler, path)).status, path).toBe(200);
  });

  test("ends when the server begins to close, and health with its end", async () => {
    const rest = deferred();
    const handler = create(async function* () {
      yield "…";
      await rest.promise;
    });
    const response = await handler.fetch(post({ messages: [] }));
    const closing = handler.close({ timeoutMs: 60_000 });
    expect(await get(handler, "/ready")).toEqual({
      status: 503,
      body: { ready: false, state: "shutting_down" },
    });
    expect(await get(handler, "/health")).toMatchObject({
      status: 200,
      body: { status: "healthy", state: "shutting_down", active_runs: 1 },
    });
    rest.resolve();
    await response.text();
    await closing;
    expect(await get(handler, "/ready")).toMatchObject({ status: 503, body: { state: "stopped" } });
    expect(await get(handler, "/health")).toMatchObject({
      status: 503,
      body: { status: "unhealthy", agent_ready: false },
    });
  });
});

describe("a check of one's own", () => {
  test("makes the server degraded or unhealthy, as it reports", async () => {
    let verdict: "degraded" | "unhealthy" | boolean | undefined;
    const handler = create(hello, { health: { checks: { search: () => verdict } } });
    const seen: unknown[] = [];
    for (verdict of [undefined, true, "degraded", "unhealthy", false] as const) {
      const health = await get(handler, "/health");
      const { status: ready } = await get(handler, "/ready");
      seen.push([health.status, ready, health.body.status, health.body.checks]);
    }
    const result = (status: string): unknown[] => [status, [{ name: "search", status }]];
    expect(seen).toEqual([
      [200, 200, ...result("healthy")],
      [200, 200, ...result("healthy")],
      [200, 200, ...result("degraded")],
      [503, 503, ...result("unhealthy")],
      [503, 503, ...result("unhealthy")],
    ]);
  });

  test("that fails is logged, and its words are not for the client", async () => {
    const logger = memoryLogger();
    const db = (): never => {
      throw new Error("connect postgres://user:pw@db");
    };
    const handler = create(hello, { logger, health: { checks: { db } } });
    const { status, body } = await get(handler, "/health");
    expect(status).toBe(503);
    expect(JSON.stringify(body)).not.toContain("postgres");
    expect(logger.records).toMatchObject([{ level: "warn", check: "db" }]);
  });

  test("that hangs counts as unhealthy after two seconds", async () => {
    const clock = fakeClock();
    const handler = create(hello, {
      clock,
      health: { checks: { db: () => new Promise<void>(() => {}) } },
    });
    await handler.start();
    const answer = get(handler, "/health");
    await new Promise(setImmediate);
    await clock.advance(2_000);
    expect(await answer).toMatchObject({ status: 503, body: { checks: [{ name: "db" }] } });
  });
});

describe("a store that cannot be reached", () => {
  const storeWith = (count: SessionStore["count"]): SessionStore =>
    Object.assign(memorySessions(), { count });

  test.for<[string, () => Promise<number>]>([
    ["rejects", () => Promise.reject(new Error("redis is away"))],
    [
      "throws",
      () => {
        throw new Error("redis is away");
      },
    ],
  ])("degrades health and takes readiness when it %s", async ([, count]) => {
    const handler = create(hello, { sessions: storeWith(count) });
    expect(await get(handler, "/health")).toMatchObject({
      status: 200,
      body: { status: "degraded", checks: [{ name: "sessions", status: "degraded" }] },
    });
    expect((await get(handler, "/ready")).status).toBe(503);
  });

  test("is asked once at a time, however many ask for health", async () => {
    const [first, calls] = [deferred<number>(), [] as number[]];
    const handler = create(hello, {
      sessions: storeWith(() => {
        calls.push(1);
        return first.promise;
      }),
    });
    await handler.start();
    const answers = [1, 2, 3].map(() => get(handler, "/health"));
    await new Promise(setImmediate);
    first.resolve(42);
    for (const { body } of await Promise.all(answers)) expect(body.active_sessions).toBe(42);
    expect(calls).toHaveLength(1);
  });

  test("counts the runs of this process when the store does not count", async () => {
    const sessions = memorySessions();
    delete (sessions as { count?: unknown }).count;
    expect((await get(create(hello, { sessions }), "/health")).body).toMatchObject({
      status: "healthy",
      active_sessions: 0,
    });
  });
});
