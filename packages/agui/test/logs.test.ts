import { afterEach, describe, expect, test, vi } from "vitest";
import { join } from "node:path";
import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { createClient } from "redis";
import { openPool } from "../../sessions/test/_postgres-pool.ts";
import {
  AgentError,
  createAgentHandler,
  jsonLogger,
  logging,
  memorySessions,
} from "../src/index.ts";
import type { AgentHandlerOptions, SessionStore } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the record of a request", () => {
  test("has session, endpoint and the time to the end of the stream, not to its head", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1_000 });
    try {
      const logger = memoryLogger();
      const gate = deferred();
      const { fetch } = createAgentHandler(
        async function* () {
          yield "a";
          await gate.promise;
        },
        { logger, middleware: [logging()] },
      );
      const body = { threadId: "from-the-body", runId: "r", messages: [say("hi")] };
      const response = await fetch(post(body, { headers: { "x-request-id": "q" } }));
      expect(logger.records).toEqual([]);
      vi.advanceTimersByTime(3_000);
      gate.resolve();
      await response.text();
      expect(logger.records).toMatchObject([
        {
          level: "info",
          timestamp: "1970-01-01T00:00:01.000Z",
          requestId: "q",
          sessionId: "from-the-body",
          runId: "r",
          endpoint: "POST /agui",
          status: 200,
          latencyMs: 3_000,
        },
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("holds what was asked and answered in debug mode only, never a credential", async () => {
    const bodies = [false, true].map(async (debug) => {
      const logger = memoryLogger();
      const { fetch } = createAgentHandler(async () => "the answer", {
        logger,
        middleware: [logging({ debug })],
      });
      const headers = { authorization: "Bearer abcdef123456", cookie: "sid=s3cret" };
      await (await fetch(post({ messages: [say("the question")] }, { headers }))).text();
      return JSON.stringify(logger.records);
    });
    const [plain, debug] = await Promise.all(bodies);
    expect(plain).not.toMatch(/the question|the answer/);
    expect(debug).toMatch(/the question.*the answer/);
    expect(`${plain}${debug}`).not.toMatch(/abcdef123456|s3cret/);
  });
});

describe("debug of a handler", () => {
  const failing = async ({ messages }: { messages: readonly { content?: unknown }[] }) => {
    if (messages.at(-1)?.content === "fail") throw new Error("the real reason");
    return "the answer";
  };

  test.for<[string, AgentHandlerOptions]>([
    ["without logging()", { debug: true }],
    ["with logging()", { debug: true, middleware: [logging()] }],
  ])("writes what was asked and answered, once, %s", async ([, options]) => {
    const logger = memoryLogger();
    const { fetch } = createAgentHandler(failing, { ...options, logger });
    await (await fetch(post({ messages: [say("the question")] }))).text();
    expect(logger.records).toHaveLength(1);
    expect(logger.records[0]).toMatchObject({
      input: { messages: [{ content: "the question" }] },
      output: [{ role: "assistant", content: "the answer" }],
    });
    const failed = await fetch(post({ messages: [say("fail")] }));
    expect(await failed.text()).toContain("the real reason");
  });

  test("may be outvoted by logging()", async () => {
    const logger = memoryLogger();
    const middleware = [logging({ debug: false })];
    const { fetch } = createAgentHandler(failing, { debug: true, middleware, logger });
    await (await fetch(post({ messages: [say("the question")] }))).text();
    expect(JSON.stringify(logger.records)).not.toContain("the question");
  });

  test("is each handler's, where two share one logging()", async () => {
    const shared = logging();
    const [loud, quiet] = [memoryLogger(), memoryLogger()];
    for (const [debug, logger] of [
      [true, loud],
      [false, quiet],
    ] as const) {
      const { fetch } = createAgentHandler(failing, { debug, logger, middleware: [shared] });
      await (await fetch(post({ messages: [say("the question")] }))).text();
    }
    expect(JSON.stringify(loud.records)).toContain("the question");
    expect(quiet.records).toHaveLength(1);
    expect(JSON.stringify(quiet.records)).not.toContain("the question");
  });

  test("is off by default, and nothing is written of a run that went well", async () => {
    const logger = memoryLogger();
    const { fetch } = createAgentHandler(failing, { logger });
    await (await fetch(post({ messages: [say("the question")] }))).text();
    expect(logger.records).toEqual([]);
  });
});

describe("logging() of a handler", () => {
  test("writes one record per request, whichever way it is answered", async () => {
    const logger = memoryLogger();
    const { fetch } = createAgentHandler(async () => "hello", { logger, middleware: [logging()] });
    const get = (path: string): Promise<Response> => fetch(new Request(`http://test.local${path}`));
    await (await fetch(post({ threadId: "t", runId: "r", messages: [say("hi")] }))).text();
    await (await get("/agui/runs/r/events")).text();
    await (await get("/agui/info")).text();
    await (await get("/nothing")).text();
    await (await fetch(post("{"))).text();
    await (await fetch(post({ message: "hi" }, { path: "/agent/default/chat" }))).text();
    expect(
      logger.records.map(({ endpoint, status, protocol }) => [endpoint, status, protocol]),
    ).toEqual([
      ["POST /agui", 200, "agui"],
      ["GET /agui/runs/r/events", 200, "agui"],
      ["GET /agui/info", 200, "agui"],
      ["GET /nothing", 404, undefined],
      ["POST /agui", 400, undefined],
      ["POST /agent/default/chat", 200, "rest"],
    ]);
    for (const record of logger.records) {
      expect(record).toMatchObject({
        requestId: expect.any(String),
        latencyMs: expect.any(Number),
      });
    }
  });
});

describe("a store that cannot be reached", () => {
  const requests = {
    "AG-UI": post({ messages: [say("hi")] }),
    REST: post({ message: "hi" }, { path: "/agent/default/chat" }),
    useChat: post(
      { id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }] },
      { path: "/api/chat" },
    ),
    CopilotKit: post(
      { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} },
      { path: "/agui/agent/default/run" },
    ),
    threads: post({ message: "hi" }, { path: "/chat" }),
  };

  test.for(Object.entries(requests))(
    "is refused over %s, with one line at error level that names the cause",
    async ([, request]) => {
      const logger = memoryLogger();
      const cause = new Error("connect ECONNREFUSED 127.0.0.1:6379");
      const fail = (): never => {
        throw new AgentError("store-unavailable", "The store is not reachable.", { cause });
      };
      const store = memorySessions();
      const sessions = { ...store, get: fail, create: fail, runs: { ...store.runs, open: fail } };
      const { fetch } = createAgentHandler(async () => "hello", { logger, sessions });
      // CopilotKit reads a failure from the stream.
      const words = await (await fetch(request)).text();
      expect(words).toMatch(/store-unavailable|cannot be reached|unavailable/i);
      const errors = logger.records.filter(({ level }) => level === "error");
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ error: { cause }, requestId: expect.any(String) });
    },
  );

  const stores: Readonly<Record<string, () => SessionStore>> = {
    SQLite: () => sqliteSessions({ path: join(import.meta.filename, "threads.db") }),
    Redis: () => {
      const client = createClient({ url: "redis://127.0.0.1:1" });
      client.on("error", () => {});
      return redisSessions({ client, commandMs: 20 });
    },
    PostgreSQL: () => postgresSessions({ client: openPool(1), commandMs: 200 }),
  };

  test.for(Object.entries(stores))("is a 503 with its cause in the log (%s)", async ([, open]) => {
    const logger = memoryLogger();
    const sessions = open();
    const { fetch } = createAgentHandler(async () => "hello", { logger, sessions });
    const response = await fetch(post({ messages: [say("hi")] }));
    expect([response.status, (await response.json()) as object]).toMatchObject([
      503,
      { code: "store-unavailable" },
    ]);
    const errors = logger.records.filter(({ level }) => level === "error");
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      error: { code: "store-unavailable", cause: { message: expect.stringMatching(/.+/) } },
    });
  });
});

describe("jsonLogger", () => {
  const written = (write: () => void): Record<string, unknown>[] => {
    const lines: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
    write();
    expect(lines.every((line) => !line.includes("\n"))).toBe(true);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  test("writes one JSON object a line, with time and level", () => {
    const logger = jsonLogger();
    const records = written(() => {
      logger.info({ runId: "r" }, "Run\nfinished.");
      logger.warn({});
      logger.error({ error: new TypeError("no") }, "Failed.");
    });
    expect(records).toMatchObject([
      { level: "info", runId: "r", message: "Run\nfinished." },
      { level: "warn" },
      { level: "error", message: "Failed.", error: { name: "TypeError", message: "no" } },
    ]);
    for (const { time } of records) expect(new Date(time as string).toJSON()).toBe(time);
  });

  test("writes the code of an error and what caused it", () => {
    const cause = new Error("connect ECONNREFUSED 127.0.0.1:6379");
    const error = new AgentError("store-unavailable", "The store is not reachable.", { cause });
    const circular = new Error("both");
    circular.cause = circular;
    const records = written(() => {
      jsonLogger().error({ error });
      jsonLogger().error({ error: circular });
    });
    expect(records).toMatchObject([
      { error: { code: "store-unavailable", cause: { message: cause.message } } },
      { error: { message: "both", cause: "[again]" } },
    ]);
  });

  test("writes debug records only when asked", () => {
    const say = (debug: boolean) => () => jsonLogger({ debug }).debug({ n: 1 }, "Event.");
    expect(written(say(false))).toEqual([]);
    expect(written(say(true))).toMatchObject([{ level: "debug", n: 1 }]);
  });

  test("writes a line for what is not JSON", () => {
    const circle: Record<string, unknown> = { big: 10n };
    circle.self = circle;
    const thrower = {
      toJSON() {
        throw new Error("no");
      },
    };
    const logger = jsonLogger();
    const records = written(() => {
      logger.info({ circle });
      logger.info({ thrower });
    });
    expect(records).toMatchObject([{ circle: { big: "10" } }, { level: "error" }]);
  });

  test("is what a handler uses when it is given none", async () => {
    const lines: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
    const { fetch } = createAgentHandler(() => Promise.reject(new Error("db down")));
    await (await fetch(post({ messages: [] }))).text();
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        level: "error",
        error: expect.objectContaining({ message: "db down" }),
      }),
    );
  });
});
