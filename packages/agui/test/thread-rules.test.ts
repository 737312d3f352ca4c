import type { Exchange, Message, Session } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import type { AgentFunction, AgentHandler } from "../src/index.ts";
import { deferred, eventsOf, memoryLogger, post } from "./_helpers.ts";

const quiet = { logger: memoryLogger() };
const key = { principal: "", threadId: "t" };
const user = (id: string, content = id): object => ({ id, role: "user", content });
const run = (handler: AgentHandler, body: object = {}): Promise<Response> =>
  handler.fetch(post({ threadId: "t", protocolVersion: "1.0", messages: [], ...body }));
const sessionOf = async (handler: AgentHandler): Promise<Session> =>
  (await handler.sessions.get(key)) as Session;
const refusal = async (response: Response): Promise<object> => ({
  status: response.status,
  type: response.headers.get("content-type"),
  code: ((await response.json()) as { code: string }).code,
});
const refused = (status: number, code: string): object => ({
  status,
  code,
  type: "application/problem+json",
});

/** An agent that answers with a number and keeps what it was given. */
function listener(): { agent: AgentFunction; seen: string[][] } {
  const seen: string[][] = [];
  return {
    seen,
    async agent(input) {
      seen.push(input.messages.map(({ content }) => content as string));
      return `answer ${seen.length}`;
    },
  };
}

describe("a thread too many", () => {
  test("is refused with 429 and Retry-After before any stream, while known ones go on", async () => {
    const handler = createAgentHandler(async () => "a", { ...quiet, limits: { maxSessions: 1 } });
    await (await run(handler)).text();
    const response = await run(handler, { threadId: "t2" });
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await refusal(response)).toEqual(refused(429, "capacity-exceeded"));
    expect((await eventsOf(await run(handler))).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    await handler.sessions.delete(key);
    expect((await eventsOf(await run(handler, { threadId: "t2" }))).at(-1)).toMatchObject({
      type: "RUN_FINISHED",
    });
  });
});

describe("the name of a thread", () => {
  test.for(["t1", "user-123", "7f2c1e9a-3b5d-4c6e-8f70-112233445566", "日本:{}", "x".repeat(256)])(
    "may be %s",
    async (threadId) => {
      const handler = createAgentHandler(async () => "a", quiet);
      const [started] = await eventsOf(await run(handler, { threadId }));
      expect(started).toMatchObject({ type: "RUN_STARTED", threadId });
      expect(await handler.sessions.get({ principal: "", threadId })).toBeDefined();
    },
  );
});

describe("a message", () => {
  test("may have 100,000 characters by default", async () => {
    const said = (length: number): object => ({ messages: [user("u", "x".repeat(length))] });
    const handler = createAgentHandler(async () => "a", quiet);
    expect((await run(handler, said(100_000))).status).toBe(200);
    expect(await refusal(await run(handler, said(100_001)))).toEqual(
      refused(400, "invalid-request"),
    );
    const narrow = createAgentHandler(async () => "a", { ...quiet, limits: { messageChars: 10 } });
    expect((await run(narrow, said(10))).status).toBe(200);
    expect((await run(narrow, said(11))).status).toBe(400);
  });

  test("may be longer when the agent writes it, and is kept whole", async () => {
    const sessions = memorySessions();
    const text = "x".repeat(150_000);
    const handler = createAgentHandler(async () => text, { ...quiet, sessions });
    await (await run(handler, { threadId: "t", messages: [user("u", "hi")] })).text();
    const session = await sessions.get({ principal: "", threadId: "t" });
    expect(session!.messages.at(-1)).toMatchObject({ role: "assistant", content: text });
  });
});

describe("tool calls", () => {
  test("are an assistant's only: another's are left out", async () => {
    const seen: Message[][] = [];
    const handler = createAgentHandler(async ({ messages }) => {
      seen.push(messages);
    }, quiet);
    const toolCalls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
    const messages = [
      { ...user("1"), toolCalls },
      { id: "2", role: "assistant", toolCalls },
    ];
    await (await run(handler, { messages })).text();
    expect(seen).toEqual([[user("1"), { id: "2", role: "assistant", toolCalls }]]);
  });
});

describe("a history that its client owns", () => {
  test("follows the client when it edits, branches and asks again", async () => {
    const { agent, seen } = listener();
    const handler = createAgentHandler(agent, quiet);
    await (await run(handler, { messages: [user("1")] })).text();
    const [, answer] = (await sessionOf(handler)).messages;
    // Asked again: the old answer is gone.
    await (await run(handler, { messages: [user("1")] })).text();
    // Edited: another question after the first answer, and then another in its place.
    await (await run(handler, { messages: [user("1"), answer!, user("2")] })).text();
    await (await run(handler, { messages: [user("1"), answer!, user("2b")] })).text();
    expect(seen).toEqual([["1"], ["1"], ["1", "answer 1", "2"], ["1", "answer 1", "2b"]]);
    const { messages } = await sessionOf(handler);
    expect(messages.map(({ content }) => content)).toEqual(["1", "answer 1", "2b", "answer 4"]);
  });
});

describe("a history that the server owns", () => {
  test("shows the agent no more than the thread may hold", async () => {
    const { agent, seen } = listener();
    const handler = createAgentHandler(agent, {
      ...quiet,
      history: "server",
      sessions: memorySessions({ maxMessagesPerThread: 3 }),
    });
    for (const id of ["1", "2", "3"]) await (await run(handler, { messages: [user(id)] })).text();
    expect(seen).toEqual([["1"], ["1", "answer 1", "2"], ["2", "answer 2", "3"]]);
    const { messages, messageCount } = await sessionOf(handler);
    expect(messages.map(({ content }) => content)).toEqual(["answer 2", "3", "answer 3"]);
    expect(messageCount).toBe(6);
  });

  test("lets the agent go on from the answer of a run that was cut short", async () => {
    const seen: Message[][] = [];
    const handler = createAgentHandler(
      async function* (input) {
        seen.push(input.messages);
        yield "half an ans";
        if (seen.length === 1) throw new Error("boom");
      },
      { ...quiet, history: "server" },
    );
    await (await run(handler, { messages: [user("1")] })).text();
    await (await run(handler, { messages: [user("2")] })).text();
    expect(seen[1]).toMatchObject([
      { id: "1" },
      { content: "half an ans", metadata: { incomplete: true } },
      { id: "2" },
    ]);
  });
});

describe("a client that makes its own ids", () => {
  const call = { id: "call-1", type: "function", function: { name: "look", arguments: "{}" } };
  const claimed = [
    user("1"),
    { id: "mine-1", role: "assistant", toolCalls: [call] },
    { id: "mine-2", role: "tool", toolCallId: "call-1", content: "another result" },
    { id: "mine-3", role: "tool", toolCallId: "call-1", content: "and another" },
    user("2"),
  ];

  function looker(history: "client" | "server"): { handler: AgentHandler; seen: Message[][] } {
    const seen: Message[][] = [];
    const handler = createAgentHandler(
      async ({ messages }, { emit }) => {
        seen.push(messages);
        if (seen.length > 1) return;
        emit.toolCall("look", {}, { id: "call-1" });
        await emit.toolResult("call-1", "the result");
      },
      { ...quiet, history },
    );
    return { handler, seen };
  }

  test("has its copy of a result replaced by the server's, once", async () => {
    const { handler, seen } = looker("client");
    await (await run(handler, { messages: [user("1")] })).text();
    const result = (await sessionOf(handler)).messages.find(({ role }) => role === "tool");
    await (await run(handler, { messages: claimed })).text();
    expect(seen[1]!.filter(({ role }) => role === "tool")).toEqual([result]);
  });

  test("adds nothing but the user's words to a history that the server owns", async () => {
    const { handler, seen } = looker("server");
    await (await run(handler, { messages: [user("1")] })).text();
    const { messages } = await sessionOf(handler);
    await (await run(handler, { messages: claimed })).text();
    expect(seen[1]).toEqual([...messages, user("2")]);
  });
});

describe("a thread that is deleted", () => {
  test("takes with it what it had asked for", async () => {
    let asked = "";
    const handler = createAgentHandler(async (_input, { emit }) => {
      asked = emit.interrupt({ reason: "confirmation", message: "Sure?" });
    }, quiet);
    await (await run(handler, { messages: [user("1")] })).text();
    expect((await sessionOf(handler)).pending).toMatchObject([{ id: asked }]);
    await handler.sessions.delete(key);
    const resume = [{ interruptId: asked, status: "resolved", payload: {} }];
    expect(await refusal(await run(handler, { resume }))).toEqual(
      refused(409, "unknown-interrupt"),
    );
    expect(await handler.sessions.get(key)).toBeUndefined();
  });
});

describe("a run that fails", () => {
  const body = JSON.stringify({ threadId: "t", runId: "r", messages: [user("1")] });

  /** A request whose client hears each write at once, not when a stream hands it on. */
  const exchange = (hear: (chunk: string) => void, end: () => void): Exchange => ({
    request: {
      method: "POST",
      url: new URL("http://test.local/agui"),
      headers: new Headers(),
      native: undefined,
    },
    method: "POST",
    path: "/agui",
    query: "",
    onLeave: () => undefined,
    header: (name) => (name === "content-type" ? "application/json" : undefined),
    async *body() {
      yield new TextEncoder().encode(body);
    },
    reply: () => ({
      pending: 0,
      write(chunk) {
        hear(String(chunk));
        return true;
      },
      end,
      destroy: end,
      onDrain: undefined,
      onClose: undefined,
    }),
  });

  test("writes to the log, reaches its client and then its agent, and keeps its session", async () => {
    const order: string[] = [];
    const logger = { ...memoryLogger(), error: () => void order.push("log") };
    const ended = deferred();
    const handler = createAgentHandler(
      async function* (_input, { signal }) {
        signal.addEventListener("abort", () => order.push("agent"));
        yield "half";
        throw new Error("boom");
      },
      { logger },
    );
    const hear = (chunk: string): void => {
      if (chunk.includes("RUN_ERROR")) order.push("client");
    };
    await handler.handle(exchange(hear, ended.resolve));
    await ended.promise;
    await expect.poll(() => order).toEqual(["log", "client", "agent"]);
    expect((await sessionOf(handler)).messages).toMatchObject([
      { id: "1" },
      { content: "half", metadata: { incomplete: true } },
    ]);
  });
});

describe("resources of a session", () => {
  test("that never let go do not hold up the others, nor the end of the handler", async () => {
    const clock = fakeClock();
    const logger = memoryLogger();
    const disposed: string[] = [];
    const handler = createAgentHandler(async () => "a", {
      logger,
      clock,
      createSession: (id) => ({
        dispose() {
          disposed.push(id);
          return id === "stuck" ? new Promise<void>(() => {}) : undefined;
        },
      }),
    });
    for (const threadId of ["stuck", "fine"]) await (await run(handler, { threadId })).text();
    const closing = handler.close({ timeoutMs: 60_000 });
    await clock.advance(5_000);
    await closing;
    expect([disposed, handler.state]).toEqual([["stuck", "fine"], "stopped"]);
    expect(logger.records).toMatchObject([{ level: "error", threadId: "stuck" }]);
  });
});
