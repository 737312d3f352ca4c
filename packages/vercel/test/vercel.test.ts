import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions } from "@holodeck/agui";
import { createFetchExchange, defaultLimits, silentLogger, toAgent } from "@holodeck/agui-core";
import type { AgentEvent, AgentLike, Logger } from "@holodeck/agui-core";
import { scriptedAgent } from "@holodeck/agui-testing";
import { decodeUi, toVercelResponse, vercel } from "@holodeck/agui-vercel";
import type { VercelOptions } from "@holodeck/agui-vercel";
import { Observable, of } from "rxjs";
import { describe, expect, test, vi } from "vitest";

function serve(
  agent: AgentLike,
  options: VercelOptions = {},
  settings: AgentHandlerOptions = {},
): AgentHandler {
  return createAgentHandler(agent, {
    logger: silentLogger,
    ...settings,
    protocols: [vercel(options)],
  });
}

const user = { id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] };
const body = { id: "chat-1", trigger: "submit-message", messages: [user] };

function post(content: unknown, path = "/api/chat"): Request {
  return new Request(`http://test.local${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  });
}

const get = (path: string): Request => new Request(`http://test.local${path}`);

describe("vercel", () => {
  test.for(["/api/chat", "/chat"])("answers at %s", async (path) => {
    const response = await serve(scriptedAgent(["Hello"])).fetch(post(body, path));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-vercel-ai-ui-message-stream": "v1",
    });
    const text = await response.text();
    expect(text).toContain('"delta":"Hello"');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test.for([
    ["UI messages", body, "x-vercel-ai-ui-message-stream"],
    [
      "messages with content",
      { messages: [{ role: "user", content: "hi" }] },
      "x-vercel-ai-data-stream",
    ],
    ["a prompt", { prompt: "hi" }, "x-vercel-ai-data-stream"],
    ["a single UI message", { id: "c", message: user }, "x-vercel-ai-ui-message-stream"],
    [
      "a single message with content",
      { id: "c", message: { role: "user", content: "hi" } },
      "x-vercel-ai-data-stream",
    ],
    [
      "old messages from a new client",
      { trigger: "submit-message", messages: [{ id: "1", role: "user", content: "hi" }] },
      "x-vercel-ai-ui-message-stream",
    ],
  ] as const)("finds the generation by %s", async ([, content, header]) => {
    const agent = scriptedAgent(["Hello"]);
    const response = await serve(agent).fetch(post(content));
    expect(response.headers.get(header)).toBe("v1");
    expect(await response.text()).toContain("Hello");
    expect(agent.inputs[0]!.messages).toMatchObject([{ role: "user", content: "hi" }]);
  });

  test("answers as its options set", async () => {
    const answer = async (options: VercelOptions, content: unknown): Promise<string> => {
      const response = await serve(scriptedAgent(["Hello"]), options).fetch(post(content));
      return response.text();
    };
    expect(await answer({ protocol: "text" }, body)).toBe("Hello");
    expect(await answer({ protocol: "data" }, body)).toContain('0:"Hello"\n');
    expect(await answer({ sdkVersion: 6 }, { prompt: "hi" })).toContain("data: [DONE]");
    const old = { messages: [{ role: "user", content: "hi" }] };
    expect(await answer({}, old)).toContain("f:{");
    expect(await answer({ mode: "3.4" }, old)).not.toContain("f:{");
  });

  test("gives the agent the rest of the body", async () => {
    const agent = scriptedAgent([]);
    const tools = { look: { description: "Looks.", parameters: { type: "object" } } };
    const content = { ...body, agentId: "default", tools, model: "m", state: { a: 1 } };
    await (await serve(agent).fetch(post(content))).text();
    expect(agent.inputs[0]).toMatchObject({
      threadId: "chat-1",
      tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
      state: { a: 1 },
      forwardedProps: { trigger: "submit-message", model: "m" },
    });
  });

  test("lets a client name its AI SDK", async () => {
    const agent = scriptedAgent([]);
    const response = await serve(agent).fetch(post(body, "/api/chat?sdkVersion=6"));
    expect(await response.text()).toContain('{"type":"finish","finishReason":"stop"');
  });

  test("adds the headers of old servers when asked to", async () => {
    const response = await serve(scriptedAgent([]), { legacyHeaders: true }).fetch(post(body));
    expect(response.headers.get("connection")).toBe("keep-alive");
    expect(response.headers.get("content-encoding")).toBe("none");
    expect(response.headers.has("transfer-encoding")).toBe(false);
  });

  test("resumes nothing with 204, and with an empty stream for clients before AI SDK 5", async () => {
    const handler = serve(scriptedAgent([]));
    const now = await handler.fetch(get("/api/chat/chat-1/stream"));
    expect(now.status).toBe(204);
    const before = await handler.fetch(get("/api/chat?chatId=chat-1"));
    expect(before.status).toBe(200);
    expect(before.headers.get("x-vercel-ai-data-stream")).toBe("v1");
    expect(await before.text()).toBe("");
  });

  test("resumes only the caller's own chats", async () => {
    const agent = scriptedAgent(["Hello", { hang: true }]);
    const handler = serve(
      agent,
      {},
      {
        authenticate: ({ headers }) => ({ id: headers.get("authorization") ?? "nobody" }),
      },
    );
    const response = await handler.fetch(post(body));
    expect((await handler.fetch(get("/api/chat/chat-1/stream"))).status).toBe(200);
    const headers = { authorization: "somebody" };
    const url = "http://test.local/api/chat/chat-1";
    expect((await handler.fetch(new Request(`${url}/stream`, { headers }))).status).toBe(204);
    const stopped = await handler.fetch(new Request(`${url}/stop`, { method: "POST", headers }));
    expect(await stopped.json()).toMatchObject({ stopped: false });
    await response.body!.cancel();
  });

  test("logs what it hides from the client", async () => {
    const error = vi.fn<Logger["error"]>();
    const agent = scriptedAgent([{ type: "RUN_ERROR", message: "postgres://secret", code: "db" }]);
    const handler = serve(agent, {}, { logger: { ...silentLogger, error } });
    const text = await (await handler.fetch(post(body))).text();
    expect(text).toContain('{"type":"error","errorText":"An error occurred."}');
    expect(text).not.toContain("secret");
    expect(JSON.stringify(error.mock.calls)).toContain("postgres://secret");
  });

  test("sends the cause with debug, and the text of onError", async () => {
    const agent = scriptedAgent([{ throw: new Error("boom") }]);
    const shown = await (await serve(agent, {}, { debug: true }).fetch(post(body))).text();
    expect(shown).toContain('"errorText":"boom"');
    const onError = ({ code = "" }): string => `Sorry (${code}).`;
    const chosen = await (await serve(agent, { onError }).fetch(post(body))).text();
    expect(chosen).toContain('"errorText":"Sorry (agent-error)."');
  });

  test.for([
    ["says nothing", (): string => undefined as never],
    [
      "fails",
      (): string => {
        throw new Error("oh");
      },
    ],
  ] as const)("has a default text when onError %s", async ([, onError]) => {
    const agent = scriptedAgent(["Hel", { throw: new Error("boom") }]);
    const handler = serve(agent, { onError });
    const text = await (await handler.fetch(post(body))).text();
    expect(text).toContain('"errorText":"An error occurred."');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const broken = new Observable<string>((one) => one.error(new Error("boom")));
    const alone = await toVercelResponse(broken, { onError }).text();
    expect(alone).toContain('"errorText":"An error occurred."');
  });

  test("leaves a page of the host's alone that is where the chat is", async () => {
    const handler = serve(
      scriptedAgent([]),
      {},
      {
        authenticate: () => {
          throw new Error("Nobody was asked.");
        },
      },
    );
    const served = await handler.handle(createFetchExchange(get("/chat")).exchange);
    expect(served).toBe(false);
  });

  test.for([
    [{ messages: [{ role: "robot", parts: [] }] }, 400, "messages.0.role"],
    [{ messages: [1] }, 400, "messages.0"],
    [{ ...body, id: "a b" }, 400, "id must be"],
    [{ messages: [{ ...user, id: "x".repeat(1_025) }] }, 400, "messages.0.id"],
    [{ messages: Array.from({ length: 1_001 }, () => user) }, 400, "1001 entries"],
    [
      { messages: [{ ...user, parts: [{ type: "text", text: "x".repeat(100_001) }] }] },
      400,
      "100001 characters",
    ],
    [{ messages: [{ ...user, parts: [{ type: "file", url: "file:///etc/passwd" }] }] }, 400, "url"],
    [
      { messages: [{ ...user, parts: Array(11).fill({ type: "file", url: "https://a.test" }) }] },
      400,
      "11 files",
    ],
    [{ question: "hi" }, 400, "useChat"],
  ] as const)("refuses what it cannot read: %o", async ([content, status, words]) => {
    const agent = scriptedAgent([]);
    const response = await serve(agent).fetch(post(content));
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(((await response.json()) as { detail: string }).detail).toContain(words);
    expect(agent.inputs).toEqual([]);
  });

  test("refuses an approval that is neither yes nor no", async () => {
    const approval = { id: "a", approved: "yes" };
    const part = { type: "tool-x", toolCallId: "c", state: "approval-responded", approval };
    const messages = [user, { id: "a1", role: "assistant", parts: [part] }];
    const response = await serve(scriptedAgent([])).fetch(post({ ...body, messages }));
    expect(response.status).toBe(400);
  });

  test("takes ids that a client made up for no more than they are", () => {
    const agui = (messageId: unknown): object => ({ providerMetadata: { agui: { messageId } } });
    const parts = [
      { type: "reasoning", text: "a", ...agui("m") },
      { type: "reasoning", text: "b", ...agui("m:1") },
      { type: "text", text: "c" },
      { type: "text", text: "d", ...agui("m") },
      { type: "text", text: "e", ...agui("") },
      { type: "tool-x", toolCallId: "", state: "output-available", output: 1 },
      null,
      { type: "tomorrow" },
    ];
    const messages = [{ id: "m", role: "assistant", parts }];
    const { input } = decodeUi({ ...body, messages }, { runId: "r", limits: defaultLimits });
    expect(input.messages).toEqual([
      { id: "m", role: "reasoning", content: "a" },
      { id: "m:1", role: "reasoning", content: "b" },
      { id: "m:2", role: "assistant", content: "c" },
      { id: "m:3", role: "assistant", content: "de" },
    ]);
  });

  test("refuses more inline bytes than it takes", () => {
    const url = `data:image/png;base64,${"A".repeat(400)}`;
    const messages = [{ ...user, parts: [{ type: "file", mediaType: "image/png", url }] }];
    const limits = { ...defaultLimits, inlineFileBytes: 299 };
    expect(() => decodeUi({ ...body, messages }, { runId: "r", limits })).toThrow(
      expect.objectContaining({ code: "payload-too-large" }),
    );
  });

  test("describes each route for OpenAPI, under separate ids", async () => {
    const routes = vercel().routes({} as never);
    const operations = [];
    for (const route of routes) operations.push(await route.operation?.());
    expect(operations).toHaveLength(8);
    expect(new Set(operations.map((one) => one?.operationId)).size).toBe(8);
    for (const one of operations) expect(one).toMatchObject({ tags: ["vercel"] });
  });

  test.for([
    [{ sdkVersion: 4 }, /sdkVersion: 4 }\) must be one of 5, 6, 7/],
    [{ protocol: "sse" }, /protocol: "sse" }\) must be one of "ui", "data", "text"/],
    [{ mode: "4" }, /must be one of "3.4"/],
    [{ path: "chat" }, /must start with "\/"/],
    [{ path: [] }, /at least one/],
    [{ sdkversion: 6 }, /Did you mean sdkVersion/],
    [{ onError: "x" }, /onError }\) must be a function/],
  ] as const)("names what is wrong with %o", ([options, message]) => {
    expect(() => vercel(options as never)).toThrow(message);
  });
});

describe("toVercelResponse", () => {
  async function* talk(): AsyncGenerator<string, void, undefined> {
    yield "Hello ";
    yield "world";
  }

  test("keeps the ids of the run, unless it is given others", async () => {
    const run = (): Iterable<AgentEvent> => [
      { type: "RUN_STARTED", threadId: "my-thread", runId: "my-run" },
      { type: "TEXT_MESSAGE_CHUNK", delta: "hi" },
      { type: "RUN_FINISHED", threadId: "my-thread", runId: "my-run" },
    ];
    const logger = { ...silentLogger, warn: vi.fn() };
    const own = await toVercelResponse(run(), { logger }).text();
    expect(own).toContain('{"type":"start","messageId":"my-run"');
    expect(logger.warn).not.toHaveBeenCalled();
    const given = await toVercelResponse(run(), { runId: "given" }).text();
    expect(given).toContain('{"type":"start","messageId":"given"');
    const agent = toAgent(async () => "hi");
    const input = { threadId: "t", runId: "of-the-agent", messages: [], tools: [], context: [] };
    const composed = await toVercelResponse(agent.run({ ...input, state: {} })).text();
    expect(composed).toContain('{"type":"start","messageId":"of-the-agent"');
  });

  test.for([
    ["an async generator", () => talk()],
    ["an Observable", () => of("Hello ", "world")],
    ["an array", () => ["Hello ", "world"]],
  ] as const)("wraps %s", async ([, events]) => {
    const response = toVercelResponse(events(), { runId: "r", headers: { "x-mine": "1" } });
    expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(response.headers.get("x-mine")).toBe("1");
    const text = await response.text();
    expect(text).toContain('{"type":"start","messageId":"r"');
    expect(text).toContain('"delta":"Hello "');
    expect(text).toContain('"delta":"world"');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("speaks the other streams too", async () => {
    expect(await toVercelResponse(talk(), { protocol: "text" }).text()).toBe("Hello world");
    expect(await toVercelResponse(talk(), { protocol: "data" }).text()).toContain('0:"Hello "\n');
  });

  test("ends the events when the client leaves", async () => {
    let ended: () => void;
    const end = new Promise<void>((resolve) => (ended = resolve));
    async function* endless(): AsyncGenerator<string, void, undefined> {
      try {
        for (;;) yield "more ";
      } finally {
        ended();
      }
    }
    const reader = toVercelResponse(endless()).body!.getReader();
    await reader.read();
    await reader.cancel();
    await end;
  });

  test("continues the message that its options name", async () => {
    const text = await toVercelResponse(talk(), { continues: "m1" }).text();
    expect(text).toContain('{"type":"start","messageId":"m1"');
  });

  test("masks what went wrong", async () => {
    async function* broken(): AsyncGenerator<string, void, undefined> {
      yield "Hel";
      throw new Error("secret");
    }
    expect(await toVercelResponse(broken()).text()).toContain('"errorText":"An error occurred."');
    expect(await toVercelResponse(broken(), { debug: true }).text()).toContain('"secret"');
  });

  test.for([[undefined], ["text"], [() => talk()], [7]])("refuses %o", ([events]) => {
    expect(() => toVercelResponse(events as never)).toThrow(/takes a stream of events/);
  });
});
