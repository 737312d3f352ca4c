import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import type { AgentFunction, AgentHandler, SessionStore } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post, say } from "./_helpers.ts";

const minute = 60_000;
const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const quiet = { logger: memoryLogger() };
const key = { principal: "", threadId: "t" };
let clock: FakeClock;
let handler: AgentHandler;

const hello: AgentFunction = async () => "Hello";
const turn = async (threadId?: string): Promise<string> => {
  const ids = threadId === undefined ? {} : { threadId };
  const [started] = await eventsOf(await handler.fetch(post({ ...ids, messages: [say("hi")] })));
  return started!.threadId as string;
};

beforeEach(() => {
  clock = fakeClock(1_000_000);
  handler = createAgentHandler(hello, { ...quiet, clock });
});

describe("a session", () => {
  test("is made, under a ULID, for a request that names no thread", async () => {
    const threadId = await turn();
    expect(threadId).toMatch(ulid);
    expect(await handler.sessions.get({ principal: "", threadId })).toMatchObject({
      agentId: "default",
      createdAt: 1_000_000,
      messageCount: 2,
    });
  });

  test("lives for 30 minutes after each use, and then is a new one", async () => {
    await turn("t");
    await clock.advance(29 * minute);
    await turn("t");
    await clock.advance(29 * minute);
    expect(await handler.sessions.get(key)).toMatchObject({
      createdAt: 1_000_000,
      lastActivity: 1_000_000 + 29 * minute,
    });
    await clock.advance(minute);
    expect(await handler.sessions.get(key)).toBeUndefined();
    await turn("t");
    expect(await handler.sessions.get(key)).toMatchObject({ createdAt: 1_000_000 + 59 * minute });
  });

  test("is gone at once when it is deleted, and the thread starts afresh", async () => {
    handler = createAgentHandler(
      async (_input, { session }) => {
        const before = session.get("n");
        session.set("n", 1);
        return String(before);
      },
      { ...quiet, clock },
    );
    const answer = async (): Promise<string> =>
      (await handler.fetch(post({ threadId: "t", messages: [] }))).text();
    expect(await answer()).toContain("undefined");
    expect(await answer()).not.toContain("undefined");
    expect(await handler.sessions.delete(key)).toBe(true);
    expect(await answer()).toContain("undefined");
  });

  test("outlives a run that is longer than it, and counts from the run's end", async () => {
    const gate = deferred();
    handler = createAgentHandler(
      async () => {
        await gate.promise;
        return "done";
      },
      { ...quiet, clock, limits: { runTimeoutMs: 120 * minute, stallMs: 120 * minute } },
    );
    const response = await handler.fetch(post({ threadId: "t", messages: [] }));
    const text = response.text();
    await clock.advance(45 * minute);
    expect(await handler.sessions.cleanupExpired()).toBe(0);
    gate.resolve();
    expect(await text).toContain("done");
    expect(await handler.sessions.get(key)).toMatchObject({
      lastActivity: 1_000_000 + 45 * minute,
      messageCount: 1,
    });
    await clock.advance(29 * minute);
    expect(await handler.sessions.get(key)).toBeDefined();
  });

  test("does not end with the request that made it", async () => {
    const begun = deferred();
    let runs = 0;
    handler = createAgentHandler(
      async (_input, { session, signal, emit }) => {
        runs++;
        if (runs > 1) return `I know ${String(session.get("name"))}`;
        session.set("name", "Ada");
        void emit.text("…");
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return undefined;
      },
      { ...quiet, clock },
    );
    const first = await handler.fetch(post({ threadId: "t", runId: "r1", messages: [] }));
    await begun.promise;
    await first.body!.cancel();
    const second = await handler.fetch(post({ threadId: "t", runId: "r2", messages: [] }));
    expect(await second.text()).toContain("I know Ada");
  });
});

describe("closing", () => {
  test("never goes back to an earlier state, whatever is called", async () => {
    const gate = deferred();
    handler = createAgentHandler({ run: hello, ready: () => gate.promise }, quiet);
    const seen: string[] = [];
    handler.on("state", (state) => seen.push(state));
    const starting = handler.start();
    await handler.close();
    gate.resolve();
    await starting;
    await handler.start();
    await handler.close();
    expect((await handler.fetch(post({ messages: [] }))).status).toBe(503);
    expect([handler.state, seen]).toEqual(["stopped", ["shutting_down", "stopped"]]);
  });

  test("forgets the sessions of this process", async () => {
    handler = createAgentHandler(hello, quiet);
    await turn("t");
    await handler.close();
    expect(await handler.sessions.get(key)).toBeUndefined();
  });

  test.for<[string, () => Promise<void>, number]>([
    ["fails", () => Promise.reject(new Error("disk full")), 1],
    [
      "throws",
      () => {
        throw new Error("gone");
      },
      1,
    ],
    ["never answers", () => new Promise<void>(() => {}), 0],
  ])("ends in time with a store that %s", async ([, close, errors]) => {
    const logger = memoryLogger();
    const sessions: SessionStore = { ...memorySessions(), close };
    handler = createAgentHandler(hello, { logger, sessions });
    await turn("t");
    await handler.close({ timeoutMs: 50 });
    expect(handler.state).toBe("stopped");
    expect(logger.records.filter(({ level }) => level === "error")).toHaveLength(errors);
  });
});
