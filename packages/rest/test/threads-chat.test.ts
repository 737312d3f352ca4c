import { AgentError, silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, Json, Logger } from "@holodeck/agui-core";
import { scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test, vi } from "vitest";
import { threads } from "../src/index.ts";
import { gate, iso, kinds, start, uuid } from "./_threads-kit.ts";

const somewhere = "11111111-2222-3333-4444-555555555555";

describe("POST /chat", () => {
  test("streams by default, token by token, as the agent makes them", async () => {
    const heard = [gate(), gate()];
    const { chat } = await start(
      scriptedAgent([
        "one ",
        { wait: heard[0]!.opened },
        "two ",
        { wait: heard[1]!.opened },
        "three",
      ]),
    );
    const stream = await chat({ message: "Count." });
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
    expect(stream.response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(stream.threadId).toMatch(uuid);
    const one = await stream.next();
    expect(one).toMatchObject({ event: "token", token: "one ", thread_id: stream.threadId });
    expect(one.timestamp).toMatch(iso);
    heard[0]!.open();
    expect(await stream.next()).toMatchObject({ event: "token", token: "two " });
    heard[1]!.open();
    expect(await stream.next()).toMatchObject({ event: "token", token: "three" });
    expect(await stream.rest()).toMatchObject([
      {
        event: "message_complete",
        thread_id: stream.threadId,
        message: { role: "assistant", content: "one two three", tool_calls: [] },
      },
    ]);
  });

  test("sends each event as one frame of data", async () => {
    const { url } = await start(scriptedAgent(["a\nb"]));
    const response = await fetch(`${url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"message":"hi"}',
    });
    const frames = (await response.text()).split("\n\n");
    expect(frames.pop()).toBe("");
    expect(frames.map((frame) => frame.startsWith('data: {"event":"'))).toEqual([true, true]);
    expect(frames.join("")).not.toContain("\n");
  });

  test("goes on with a thread: the agent sees the messages before, in order", async () => {
    const agent = scriptedAgent(["First answer."], ["Second answer."]);
    const { chat } = await start(agent);
    const first = await chat({ message: "First question." });
    await first.rest();
    const second = await chat({ message: "Second question.", thread_id: first.threadId });
    expect(second.threadId).toBe(first.threadId);
    await second.rest();
    expect(agent.inputs[1]!.messages).toMatchObject([
      { role: "user", content: "First question." },
      { role: "assistant", content: "First answer." },
      { role: "user", content: "Second question." },
    ]);
  });

  test("goes on with a thread also where the messages of other protocols are the client's", async () => {
    const agent = scriptedAgent(["Hello."]);
    const { ask } = await start(agent, { history: "client" });
    const { thread_id } = (await ask("POST /chat", { message: "One.", stream: false })).body;
    await ask("POST /chat", { message: "Two.", stream: false, thread_id });
    expect(agent.inputs[1]!.messages).toHaveLength(3);
  });

  test("makes a new thread for null, and another each time", async () => {
    const agent = scriptedAgent(["Hello."]);
    const { chat } = await start(agent);
    const one = await chat({ message: "hi", thread_id: null });
    const two = await chat({ message: "hi" });
    await Promise.all([one.rest(), two.rest()]);
    expect(one.threadId).toMatch(uuid);
    expect(two.threadId).not.toBe(one.threadId);
    expect(agent.inputs.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });

  test("takes a UUID in capitals for the same thread", async () => {
    const agent = scriptedAgent(["Hello."]);
    const { chat, ask } = await start(agent);
    const { threadId, rest } = await chat({ message: "hi" });
    await rest();
    const again = { message: "hi", thread_id: threadId.toUpperCase(), stream: false };
    expect(await ask("POST /chat", again)).toMatchObject({ body: { thread_id: threadId } });
    expect(agent.inputs[1]!.messages).toHaveLength(3);
    expect(await ask(`GET /threads/${threadId.toUpperCase()}`)).toMatchObject({ status: 200 });
  });

  test("answers one JSON object when it is asked not to stream", async () => {
    const { ask } = await start(
      async (_input, { emit, callTool }) => {
        await emit.text("Let me see. ");
        await callTool("weather", { city: "Bern" });
        await emit.text("It rains.");
        emit.usage({ inputTokens: 3, outputTokens: 4, totalTokens: 7 });
      },
      {
        tools: [
          { name: "weather", description: "d", parameters: {}, invoke: () => ({ celsius: 18 }) },
        ],
      },
    );
    const { status, body, headers } = await ask("POST /chat", { message: "hi", stream: false });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    const toolCalls = [
      {
        id: expect.any(String),
        tool_name: "weather",
        arguments: { city: "Bern" },
        result: { celsius: 18 },
        error: null,
        execution_time_ms: expect.any(Number),
      },
    ];
    expect(body).toEqual({
      thread_id: expect.stringMatching(uuid),
      message_id: expect.any(String),
      content: "Let me see. It rains.",
      message: {
        id: body.message_id,
        role: "assistant",
        content: "Let me see. It rains.",
        timestamp: expect.stringMatching(iso),
        tool_calls: toolCalls,
        metadata: {},
      },
      tool_calls: toolCalls,
      tokens_used: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      execution_time_ms: expect.any(Number),
    });
    expect(Number.isInteger(body.execution_time_ms)).toBe(true);
    const { body: thread } = await ask(`GET /threads/${String(body.thread_id)}`);
    const history = thread.message_history as { id: string; timestamp: string }[];
    expect(history.at(-1)).toMatchObject({
      id: body.message_id,
      timestamp: (body.message as Json).timestamp,
    });
  });

  test("has an empty answer for an agent that sends nothing", async () => {
    const { ask, chat } = await start(async () => {});
    const { body } = await ask("POST /chat", { message: "hi", stream: false });
    expect(body).toMatchObject({ content: "", tool_calls: [], tokens_used: null });
    const events = await (await chat({ message: "hi" })).rest();
    expect(events).toMatchObject([{ event: "message_complete", message: { content: "" } }]);
  });

  test("reports a server tool before it runs and after", async () => {
    const called = gate();
    const runs = gate();
    const { chat } = await start(
      async (_input, { callTool }) => JSON.stringify(await callTool("slow", { n: 1 })),
      {
        tools: [
          {
            name: "slow",
            description: "Waits.",
            parameters: {},
            invoke: async () => (called.open(), await runs.opened, [1, 2]),
          },
        ],
      },
    );
    const stream = await chat({ message: "hi" });
    expect(await stream.next()).toMatchObject({
      event: "tool_start",
      tool_name: "slow",
      arguments: { n: 1 },
    });
    await called.opened;
    runs.open();
    const end = await stream.next();
    expect(end).toMatchObject({ event: "tool_end", tool_name: "slow", result: [1, 2] });
    expect(end.execution_time_ms).toBeGreaterThanOrEqual(0);
    expect(kinds(await stream.rest())).toEqual(["token", "message_complete"]);
  });

  test("takes metadata to the agent and to the thread, apart from what the agent keeps", async () => {
    const seen: unknown[] = [];
    const agent: AgentFunction = async (input, { session }) => {
      seen.push([input.forwardedProps, session.get("client")]);
      session.set("secret", "the agent's");
    };
    const { ask, handler } = await start(agent);
    const first = { message: "hi", stream: false, metadata: { user_id: 7, secret: "mine" } };
    const { thread_id } = (await ask("POST /chat", first)).body;
    const second = { ...first, thread_id, metadata: { topic: "rain", user_id: 8 } };
    await ask("POST /chat", second);
    await ask("POST /chat", { message: "hi", stream: false, thread_id });
    expect(seen).toEqual([
      [{ metadata: { user_id: 7, secret: "mine" } }, { user_id: 7, secret: "mine" }],
      [{ metadata: { topic: "rain", user_id: 8 } }, { user_id: 8, secret: "mine", topic: "rain" }],
      [{ metadata: {} }, { user_id: 8, secret: "mine", topic: "rain" }],
    ]);
    const { body } = await ask(`GET /threads/${String(thread_id)}`);
    expect(body.metadata).toEqual({ user_id: 8, secret: "mine", topic: "rain" });
    const key = { principal: "", threadId: String(thread_id) };
    expect((await handler.sessions.get(key))?.metadata.secret).toBe("the agent's");
  });

  test("takes no more metadata for a thread than can be kept with it", async () => {
    const { ask } = await start(scriptedAgent(["Hello."]));
    const say = { message: "hi", stream: false };
    const first = await ask("POST /chat", { ...say, metadata: { a: "x".repeat(40_000) } });
    const { thread_id } = first.body;
    const more = { ...say, thread_id, metadata: { b: "x".repeat(40_000) } };
    const { status, body } = await ask("POST /chat", more);
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          path: "metadata",
          message: "metadata of a thread must have at most 65536 characters",
        },
      ],
    ]);
    const instead = { ...say, thread_id, metadata: { a: "x".repeat(50_000) } };
    expect((await ask("POST /chat", instead)).status).toBe(200);
  });

  test("asks the agent that is named, else the default one", async () => {
    const { ask } = await start({ one: async () => "one", two: async () => "two" });
    const content = async (body: Json): Promise<unknown> =>
      (await ask("POST /chat", { message: "hi", stream: false, ...body })).body.content;
    expect([await content({}), await content({ agent_id: "two" })]).toEqual(["one", "two"]);
    const { status, body } = await ask("POST /chat", { message: "hi", agent_id: "three" });
    expect([status, body.code]).toEqual([404, "agent-not-found"]);
  });

  test("logs what it has ignored", async () => {
    const warn = vi.fn<Logger["warn"]>();
    const { ask } = await start(async () => {}, { logger: { ...silentLogger, warn } });
    await ask("POST /chat", { message: "hi", stream: false, sessionId: "x" });
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ names: ["sessionId"] }),
      "Parts of the request were ignored.",
    );
  });
});

describe("a request that is not valid", () => {
  test.for<[string, unknown, string[]]>([
    ["no message", {}, ["message is missing; it must be a string"]],
    ["a message that is null", { message: null }, ["message must be a string"]],
    ["a message that is no string", { message: 1 }, ["message must be a string"]],
    ["an empty message", { message: "" }, ["message cannot be blank"]],
    ["a blank message", { message: " \n\t " }, ["message cannot be blank"]],
    [
      "10,001 characters",
      { message: "x".repeat(10_001) },
      ["message must have at most 10000 characters"],
    ],
    [
      "10,001 characters beyond the basic plane",
      { message: "😀".repeat(10_001) },
      ["message must have at most 10000 characters"],
    ],
    ["no UUID", { message: "hi", thread_id: "t1" }, ["thread_id must be a valid UUID"]],
    ["an empty thread", { message: "hi", thread_id: "" }, ["thread_id must be a valid UUID"]],
    ["a thread of another type", { message: "hi", thread_id: 1 }, ["thread_id must be a string"]],
    ["a stream of another type", { message: "hi", stream: "no" }, ["stream must be true or false"]],
    ["no stream", { message: "hi", stream: null }, ["stream must be true or false"]],
    ["metadata that is a list", { message: "hi", metadata: [] }, ["metadata must be an object"]],
    ["metadata that is null", { message: "hi", metadata: null }, ["metadata must be an object"]],
    ["tools that are no list", { message: "hi", tools: {} }, ["tools must be an array"]],
    [
      "tools of the same name",
      { message: "hi", tools: [{ name: "a" }, { name: "a" }] },
      ["tools must have different names"],
    ],
    [
      "a tool without a name",
      { message: "hi", tools: [{ description: "x" }] },
      ["tools.0.name: name is missing; it must be a string"],
    ],
    [
      "a tool of the server's",
      { message: "hi", tools: [{ name: "a", execution_location: "server" }] },
      [
        'tools.0.execution_location: execution_location must be "client": the server has its own tools',
      ],
    ],
    [
      "a tool without time",
      { message: "hi", tools: [{ name: "a", timeout_seconds: 0 }] },
      ["tools.0.timeout_seconds: timeout_seconds must be above 0"],
    ],
    [
      "tools without a stream",
      { message: "hi", stream: false, tools: [{ name: "a" }] },
      ["tools need stream: true, because their calls are sent in the stream"],
    ],
    [
      "many things at once",
      { message: "", thread_id: "x", stream: 0, metadata: 1 },
      [
        "message cannot be blank",
        "thread_id must be a valid UUID",
        "stream must be true or false",
        "metadata must be an object",
      ],
    ],
    ["a list", [], ["The body must be an object"]],
    ["a string", '"hi"', ["The body must be an object"]],
  ])("gets the fault of %s", async ([, body, messages]) => {
    const agent = scriptedAgent(["Never."]);
    const { ask } = await start(agent);
    const answer = await ask("POST /chat", body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({ code: "invalid-request", status: 400 });
    expect((answer.body.errors as { message: string }[]).map(({ message }) => message)).toEqual(
      messages,
    );
    expect(agent.inputs).toEqual([]);
  });

  test.for([
    ["10,000 characters", "x".repeat(10_000)],
    ["10,000 characters beyond the basic plane", "😀".repeat(10_000)],
    ["space around words, which stays", "  hi  "],
  ])("is not one with %s", async ([, message]) => {
    const agent = scriptedAgent(["Hello."]);
    const { ask } = await start(agent);
    expect((await ask("POST /chat", { message, stream: false })).status).toBe(200);
    expect(agent.inputs[0]!.messages).toMatchObject([{ role: "user", content: message }]);
  });

  test("is a 400 when it is no JSON, and a 415 when its type is not JSON", async () => {
    const { ask, url } = await start(async () => {});
    expect((await ask("POST /chat", "{")).status).toBe(400);
    const plain = { method: "POST", body: "hi", headers: { "content-type": "text/plain" } };
    expect((await fetch(`${url}/chat`, plain)).status).toBe(415);
  });

  test("is a 422 where the host wants it so", async () => {
    const { ask } = await start(async () => {}, { threads: { validationStatus: 422 } });
    const bad: [string, Json?][] = [
      ["POST /chat", {}],
      ["POST /tool_result", {}],
      ["GET /threads/x"],
    ];
    for (const [route, body] of bad) expect((await ask(route, body)).status).toBe(422);
  });
});

describe("a thread that is not there", () => {
  test("is not made by a request that names it, and no agent runs", async () => {
    const agent = scriptedAgent(["Hello."]);
    const { ask } = await start(agent);
    const { status, body } = await ask("POST /chat", { message: "hi", thread_id: somewhere });
    expect([status, body.code]).toEqual([404, "thread-not-found"]);
    expect(agent.inputs).toEqual([]);
    expect((await ask(`GET /threads/${somewhere}`)).status).toBe(404);
  });

  test("is made where the host wants it so", async () => {
    const { ask } = await start(scriptedAgent(["Hello."]), { onUnknownThread: "create" });
    const body = { message: "hi", thread_id: somewhere, stream: false };
    expect(await ask("POST /chat", body)).toMatchObject({ body: { thread_id: somewhere } });
    expect((await ask(`GET /threads/${somewhere}`)).status).toBe(200);
  });

  test("may have a name that no header can carry", async () => {
    const client = await start(async () => "Hello", {
      threads: { idFormat: "any" },
      onUnknownThread: "create",
    });
    for (const stream of [false, true]) {
      const body = { message: "hi", thread_id: "日本", stream };
      const { response } = await client.chat(body);
      expect([response.status, response.headers.get("x-thread-id")]).toEqual([200, null]);
      expect(await response.text()).toContain('"thread_id":"日本"');
    }
  });

  test("is made for a request that names none, even where others are refused", async () => {
    const { ask } = await start(scriptedAgent(["Hello."]), { onUnknownThread: "reject" });
    expect((await ask("POST /chat", { message: "hi", stream: false })).status).toBe(200);
  });

  test("is one too many when the store is full", async () => {
    const { ask } = await start(scriptedAgent(["Hello."]), { limits: { maxSessions: 2 } });
    const say = { message: "hi", stream: false };
    const { thread_id } = (await ask("POST /chat", say)).body;
    await ask("POST /chat", say);
    const { status, body, headers } = await ask("POST /chat", { message: "hi" });
    expect([status, body.code]).toEqual([429, "capacity-exceeded"]);
    expect(headers.get("retry-after")).toBe("5");
    expect((await ask("POST /chat", { ...say, thread_id })).status).toBe(200);
  });
});

describe("a run that fails", () => {
  const secret = "postgres://user:password@db";

  test("ends its stream with an error that keeps the reason to itself", async () => {
    const { chat, ask } = await start(scriptedAgent(["Hel", { throw: new Error(secret) }]));
    const stream = await chat({ message: "hi" });
    const events = await stream.rest();
    expect(kinds(events)).toEqual(["token", "error"]);
    expect(events[1]).toMatchObject({
      error_type: "llm",
      error_message: "The agent failed.",
      recoverable: true,
      code: "agent-error",
    });
    const { body } = await ask(`GET /threads/${stream.threadId}`);
    expect(body.message_history).toMatchObject([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Hel", metadata: { incomplete: true } },
    ]);
    expect(JSON.stringify([events, body])).not.toContain(secret);
  });

  test("is a problem when no stream was asked for", async () => {
    const own = new AgentError("rate-limited", "Too many questions.", { retryAfter: 3 });
    const { ask } = await start(scriptedAgent([{ throw: new Error(secret) }], [{ throw: own }]));
    const say = { message: "hi", stream: false };
    const first = await ask("POST /chat", say);
    expect([first.status, first.body.code]).toEqual([500, "agent-error"]);
    expect(JSON.stringify(first.body)).not.toContain(secret);
    const second = await ask("POST /chat", say);
    expect(second.body).toMatchObject({ code: "rate-limited", detail: "Too many questions." });
    expect(second.status).toBe(429);
  });
});

test("two requests on one thread: the second is refused, another thread is not", async () => {
  const heard = gate();
  const { chat, ask } = await start(scriptedAgent(["a", { wait: heard.opened }, "b"]));
  const stream = await chat({ message: "hi" });
  await stream.next();
  const busy = await ask("POST /chat", { message: "hi", thread_id: stream.threadId });
  expect([busy.status, busy.body.code]).toEqual([409, "thread-busy"]);
  const other = await chat({ message: "hi" });
  expect(await other.next()).toMatchObject({ token: "a" });
  heard.open();
  expect(kinds(await stream.rest())).toEqual(["token", "message_complete"]);
  await other.rest();
});

test("a client that leaves takes its run with it, and its thread stays", async () => {
  const left = gate();
  const { chat, ask } = await start(
    scriptedAgent([
      (_input, { signal }) => signal.addEventListener("abort", () => left.open()),
      "Hello",
      { hang: true },
    ]),
  );
  const stream = await chat({ message: "hi" });
  await stream.next();
  await stream.leave();
  await left.opened;
  const { body } = await ask(`GET /threads/${stream.threadId}`);
  expect(body.message_history).toMatchObject([{ content: "hi" }, { content: "Hello" }]);
});

describe("the dialect", () => {
  const paths = (options: Parameters<typeof threads>[0]): string[] =>
    threads(options)
      .routes({} as never)
      .map(({ method, path }) => `${method} ${path}`);

  test("is served at the root, or wherever one wants it", () => {
    expect(paths({})).toEqual([
      "POST /chat",
      "GET /threads",
      "GET /threads/:id",
      "DELETE /threads/:id",
      "POST /threads/:id/abort",
      "POST /tool_result",
    ]);
    expect(paths({ path: ["/v1/", "/"] }).filter((path) => path.endsWith("/chat"))).toEqual([
      "POST /v1/chat",
      "POST /chat",
    ]);
    expect(threads({ path: "/v1" }).describe?.({} as never)).toEqual({
      protocols: { threads: { path: "/v1" } },
    });
  });

  test("claims all bodies but those of the AI SDK", () => {
    const [route] = threads().routes({} as never);
    const claims = (body: unknown): boolean => route!.claims!(body);
    expect([{ message: "hi" }, {}, { message: 5 }, null, "hi", []].every(claims)).toBe(true);
    expect([{ message: { role: "user" } }, { messages: [] }, { prompt: "" }].some(claims)).toBe(
      false,
    );
  });

  test.for<[unknown, string]>([
    [{ paht: "/" }, "paht is not an option of threads. Did you mean path?"],
    [{ path: "v1" }, 'threads({ path: "v1" }) must start with "/".'],
    [{ path: [] }, 'threads({ path }) needs at least one, e.g. "/".'],
    [{ path: [1] }, 'threads({ path: 1 }) must start with "/".'],
    [
      { maxMessagesPerThread: 0 },
      "maxMessagesPerThread of threads must be a whole number above 0, not 0.",
    ],
    [{ idFormat: "ulid" }, 'idFormat of threads must be "uuid" or "any", not "ulid".'],
    [{ validationStatus: 500 }, "validationStatus of threads must be 400 or 422, not 500."],
    ["/v1", 'The options of threads must be an object, not "/v1".'],
  ])("refuses %j", ([options, message]) => {
    expect(() => threads(options as never)).toThrow(message);
  });

  test("knows which ids are its own", () => {
    const { isId } = threads();
    expect([isId?.(somewhere), isId?.("t1")]).toEqual([true, false]);
    expect(threads({ idFormat: "any" }).isId?.("t1")).toBe(true);
  });
});
