import { createAgentHandler } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import type {
  AgentFunction,
  AgentRequest,
  Protocol,
  Reply,
  RunAgentInput,
} from "@holodeck/agui-core";
import {
  collect,
  mockSink,
  runAgent,
  runContext,
  runInput,
  scriptedAgent,
} from "@holodeck/agui-testing";
import { compose } from "@holodeck/agui-core";
import { pino } from "pino";
import { describe, expect, test, vi } from "vitest";
import { logging } from "../src/index.ts";

function recorder() {
  const records: Record<string, unknown>[] = [];
  const note = (level: string) => (fields: object, message?: string) =>
    void records.push({ level, message, ...fields });
  return {
    records,
    logger: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
  };
}

const answer = scriptedAgent([
  "Hello ",
  "world",
  (_, { emit }) => emit.usage({ model: "m", inputTokens: 10, outputTokens: 5 }),
]);

const request: AgentRequest = {
  method: "POST",
  url: new URL("http://localhost/api/agui?token=sk-query-string"),
  headers: new Headers({ authorization: "Bearer abcdefgh", cookie: "sid=1", "x-trace": "t" }),
  native: undefined,
};

describe("logging", () => {
  test("writes one record per run, at its end", async () => {
    const { logger, records } = recorder();
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1_000 });
    try {
      await runAgent(
        scriptedAgent([
          () => void vi.advanceTimersByTime(200),
          "Hello",
          () => void vi.advanceTimersByTime(300),
        ]),
        { middleware: [logging({ logger })], threadId: "t", runId: "r" },
      );
    } finally {
      vi.useRealTimers();
    }
    expect(records).toEqual([
      {
        level: "info",
        message: "Run finished.",
        timestamp: "1970-01-01T00:00:01.000Z",
        requestId: "r",
        sessionId: "t",
        runId: "r",
        agentId: "default",
        firstEventMs: 200,
        latencyMs: 500,
        events: 5,
        bytes: expect.any(Number),
        outcome: "success",
      },
    ]);
  });

  test("estimates the bytes of the events", async () => {
    const { logger, records } = recorder();
    const { events } = await runAgent(answer, { middleware: [logging({ logger })] });
    const bytes = events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    expect(Math.abs((records[0]!.bytes as number) / bytes - 1)).toBeLessThan(0.25);
  });

  test("adds up the tokens", async () => {
    const { logger, records } = recorder();
    await runAgent(answer, { middleware: [logging({ logger })] });
    expect(records[0]).toMatchObject({ tokens: { input: 10, output: 5, total: 15 } });
  });

  test("knows endpoint, status and the time since the request arrived", async () => {
    const { logger, records } = recorder();
    const middleware = logging({ logger });
    const stream = { attach: () => {}, discard: () => {}, done: new Promise<void>(() => {}) };
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1_000 });
    try {
      const reply = await middleware.request!(request, async (): Promise<Reply> => ({
        status: 200,
        stream,
      }));
      expect(reply).toEqual({ status: 200, stream });
      vi.advanceTimersByTime(100);
      const context = runContext({ request: () => request, requestId: "q" });
      await collect(compose(answer, middleware.run)(runInput(), context));
    } finally {
      vi.useRealTimers();
    }
    expect(records).toMatchObject([
      { requestId: "q", endpoint: "POST /api/agui", status: 200, firstEventMs: 100 },
    ]);
  });

  test("writes one record, with its status, for a run that is answered in one piece", async () => {
    const { logger, records } = recorder();
    const whole: Protocol = {
      name: "whole",
      history: "client",
      routes: (host) => [
        {
          method: "POST",
          path: "/whole",
          body: "json",
          async handle(call) {
            const run = await host.start(call, { input: call.body as RunAgentInput });
            const { messages } = await run.collect();
            return { status: 201, body: { messages } };
          },
        },
      ],
    };
    const handler = createAgentHandler(answer, {
      protocols: [whole],
      logger: silentLogger,
      middleware: [logging({ logger })],
    });
    const response = await handler.fetch(
      new Request("http://localhost/whole", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(runInput()),
      }),
    );
    expect(response.status).toBe(201);
    expect(records).toMatchObject([
      { message: "Run finished.", endpoint: "POST /whole", status: 201, outcome: "success" },
    ]);
  });

  test("writes a record for a request that starts no run", async () => {
    const { logger, records } = recorder();
    const body = JSON.stringify({ code: "rate-limited", requestId: "q" });
    const headers = { "content-type": "application/problem+json" };
    await logging({ logger }).request!(request, async () => ({ status: 429, headers, body }));
    expect(records).toEqual([
      {
        level: "info",
        message: "Request answered.",
        timestamp: expect.any(String),
        requestId: "q",
        endpoint: "POST /api/agui",
        status: 429,
        latencyMs: expect.any(Number),
        error: "rate-limited",
      },
    ]);
  });

  test.for<[string, AgentFunction, object]>([
    ["a crash", () => Promise.reject(new Error("db")), { outcome: "error", error: "agent-error" }],
    [
      "an error of ours",
      () => Promise.reject(new AgentError("tool-error", "No.")),
      { outcome: "error", error: "tool-error" },
    ],
    [
      "the agent's own RUN_ERROR",
      () => [{ type: "RUN_ERROR", message: "No.", code: "acme/no" }],
      { outcome: "error", error: "acme/no" },
    ],
    [
      "an interrupt",
      async (_, { emit }) => void emit.interrupt({ reason: "confirmation" }),
      { outcome: "interrupt" },
    ],
  ])("records %s", async ([, agent, expected]) => {
    const { logger, records } = recorder();
    await runAgent(agent, { middleware: [logging({ logger })] });
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject(expected);
  });

  test("records a client that left", async () => {
    const { logger, records } = recorder();
    const sink = mockSink({ leaveAfter: 2 });
    const agent = scriptedAgent(["Hello", { hang: true }]);
    await runAgent(agent, { middleware: [logging({ logger })], sink });
    expect(records).toMatchObject([{ outcome: "cancelled", error: "disconnected" }]);
  });

  test("writes to the handler's logger when it was given none", async () => {
    const { logger, records } = recorder();
    await runAgent(answer, { middleware: [logging()], logger });
    expect(records).toMatchObject([{ message: "Run finished." }]);
  });

  test("writes at the level it is given", async () => {
    const { logger, records } = recorder();
    await runAgent(answer, { middleware: [logging({ logger, level: "debug" })] });
    expect(records).toMatchObject([{ level: "debug" }]);
  });

  test("writes one debug record per event when asked, without content", async () => {
    const { logger, records } = recorder();
    await runAgent(answer, { middleware: [logging({ logger, events: true })], runId: "r" });
    const debug = records.filter(({ level }) => level === "debug");
    expect(debug.map(({ event }) => event)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(debug[0]).toMatchObject({ runId: "r", index: 1 });
    expect(JSON.stringify(records)).not.toContain("world");
  });

  test("writes no content unless debug is on", async () => {
    const { logger, records } = recorder();
    const message = "What is my balance?";
    await runAgent(answer, { middleware: [logging({ logger })], message });
    expect(JSON.stringify(records)).not.toMatch(/balance|Hello/);
    await runAgent(answer, { middleware: [logging({ logger, debug: true })], message });
    expect(records[1]).toMatchObject({
      input: { messages: [{ content: message }] },
      output: [{ role: "assistant", content: "Hello world" }],
    });
  });

  // Put together here, so that no scanner takes them for real ones.
  const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl"].join(".");
  const secrets = [
    ["sk", "proj", "a1B2c3D4e5F6"].join("-"),
    ["AKIA", "IOSFODNN7EXAMPLE"].join(""),
    ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_"),
    jwt,
    ["Bearer", "abcdef123456"].join(" "),
  ];

  test("redacts credentials wherever they stand, also in debug", async () => {
    const { logger, records } = recorder();
    const { run } = logging({ logger, debug: true });
    const [split, ...others] = secrets as [string, ...string[]];
    const agent = scriptedAgent([`${others.join(" ")} `, split.slice(0, 5), split.slice(5)]);
    const input = runInput({
      state: { password: "plain", nested: [{ apiKey: "plain" }] },
      messages: [{ id: "u", role: "user", content: secrets.join("\n") }],
      forwardedProps: { dsn: "postgres://ada:hunter2@db/app" },
    });
    await collect(
      compose(agent, run)(input, runContext({ request: () => request, requestId: jwt })),
    );
    const text = JSON.stringify(records);
    expect(records[0]).toMatchObject({
      headers: { authorization: "[redacted]", cookie: "[redacted]", "x-trace": "t" },
      input: { forwardedProps: { dsn: "postgres://[redacted]@db/app" } },
    });
    expect(text).not.toContain("plain");
    expect(text).not.toContain("sid=1");
    expect(text).not.toContain("token=");
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test("leaves ordinary words alone", async () => {
    const { logger, records } = recorder();
    const message = "A basic risk-management task: ask-me-anything about sky-blue cookies.";
    await runAgent(answer, { middleware: [logging({ logger, debug: true })], message });
    expect(records[0]).toMatchObject({ input: { messages: [{ content: message }] } });
  });

  test("writes to pino", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
    await runAgent(answer, { middleware: [logging({ logger, events: true })], runId: "r" });
    const records = lines.map((line) => JSON.parse(line) as object);
    expect(records).toHaveLength(7);
    expect(records.at(-1)).toMatchObject({
      level: 30,
      runId: "r",
      events: 6,
      msg: "Run finished.",
    });
  });
});
