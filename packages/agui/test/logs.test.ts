import { afterEach, describe, expect, test, vi } from "vitest";
import { createAgentHandler, jsonLogger, logging } from "../src/index.ts";
import { deferred, memoryLogger, post, say } from "./_helpers.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the record of a request", () => {
  test("tells session, endpoint and the time to the end of the stream, not to its head", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000 });
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
      vi.setSystemTime(4_000);
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
