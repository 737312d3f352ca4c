import { AgentError } from "@holodeck/agui-core";
import type { AgentFunction, Json, ServerTool } from "@holodeck/agui-core";
import { collect, fakeClock, scriptedAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { chat, deferred, problemOf, serveRest, sessionId, shareRest, ulidPattern } from "./_kit.ts";

const path = "/agent/helper/chat";
const hello: AgentFunction = async function* () {
  yield "Hello ";
  yield "world";
};
const secret = "postgres://user:password@db";

describe("an answer", () => {
  test("has everything a ChatResponse has, and nothing else", async () => {
    const server = await serveRest(hello);
    const response = await server.post(path, { message: "Hi" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      message_id: expect.stringMatching(ulidPattern),
      content: "Hello world",
      session_id: expect.stringMatching(ulidPattern),
      tool_calls: [],
      tokens_used: null,
      execution_time_ms: expect.any(Number),
    });
  });

  test("may be empty", async () => {
    const server = await serveRest(async () => undefined);
    expect(await chat(server, { message: "Hi" })).toMatchObject({ content: "", tool_calls: [] });
  });

  test("joins the assistant's texts of this turn, and leaves other roles out", async () => {
    const agent: AgentFunction = async (input, { emit }) => {
      for (const [role, text] of [
        ["assistant", "one "],
        ["user", "not mine "],
        ["assistant", "two"],
      ] as const) {
        const message = emit.message({ role });
        await message.text(text);
        await message.end();
      }
      await emit.reasoning("thinking");
      return `${input.messages.length}`;
    };
    const server = await serveRest(agent);
    const { session_id } = await chat(server, { message: "Hi" });
    expect(await chat(server, { message: "Again", session_id })).toMatchObject({
      content: "one two",
    });
  });

  test("has the message as it was sent, white space included", async () => {
    const agent = scriptedAgent(["ok"]);
    const server = await serveRest(agent);
    await chat(server, { message: "  Hi \n" });
    expect(agent.inputs[0]?.messages).toMatchObject([{ role: "user", content: "  Hi \n" }]);
  });

  test("sums the tokens of every model that was asked", async () => {
    const agent: AgentFunction = async (_, { emit }) => {
      emit.usage({ model: "a", inputTokens: 10, outputTokens: 5, totalTokens: 18 });
      emit.usage({ model: "b", inputTokens: 1, outputTokens: 2 });
      return "ok";
    };
    const server = await serveRest(agent);
    expect((await chat(server, { message: "Hi" })).tokens_used).toEqual({
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 21,
    });
  });

  test("has how long it took in whole milliseconds", async () => {
    const clock = fakeClock();
    const server = await serveRest(
      async () => {
        clock.tick(1234.56);
        return "ok";
      },
      { clock },
    );
    expect((await chat(server, { message: "Hi" })).execution_time_ms).toBe(1235);
  });

  test("stays in the session that was named, and makes one where none was", async () => {
    const server = await serveRest(hello);
    expect((await chat(server, { message: "Hi", session_id: sessionId })).session_id).toBe(
      sessionId,
    );
    const first = await chat(server, { message: "Hi" });
    const second = await chat(server, { message: "Hi", session_id: null, files: null });
    expect(new Set([first.session_id, second.session_id, sessionId]).size).toBe(3);
    expect(first.message_id).not.toBe(second.message_id);
  });
});

describe("the tools of an answer", () => {
  const tools: ServerTool[] = [
    { name: "add", description: "", parameters: {}, invoke: () => ({ error: "only a word" }) },
    {
      name: "fail",
      description: "",
      parameters: {},
      invoke: () => {
        throw new Error(secret);
      },
    },
  ];

  test("are listed with arguments and status, in the order of their calls", async () => {
    const agent: AgentFunction = async (_, { callTool, emit }) => {
      await callTool("add", { a: 1, b: [2] });
      await callTool("fail", {}).catch(() => undefined);
      emit.toolCall("paint", { colour: "red" });
      return "done";
    };
    const server = await serveRest(agent, { tools });
    const answer = await chat(server, { message: "Hi" });
    expect(answer.tool_calls).toEqual([
      // A result may speak of errors without being one.
      { name: "add", arguments: { a: 1, b: [2] }, status: "success" },
      { name: "fail", arguments: {}, status: "error" },
      // The client's own, not answered yet.
      { name: "paint", arguments: { colour: "red" }, status: "success" },
    ]);
    expect(JSON.stringify(answer)).not.toContain(secret);
  });

  test.for<[string, string, Json, string]>([
    ["none at all", "", {}, "success"],
    ["half of them", '{"a":', {}, "error"],
    ["a list", "[1]", {}, "error"],
    ["a word", '"a"', {}, "error"],
    ["an object", ' {"a":{"b":null}} ', { a: { b: null } }, "success"],
  ])("may have streamed %s as arguments", async ([, text, args, status]) => {
    const agent: AgentFunction = async (_, { emit }) => {
      const id = emit.toolCall("paint", text);
      await emit.toolResult(id, "painted");
    };
    const server = await serveRest(agent);
    expect((await chat(server, { message: "Hi" })).tool_calls).toEqual([
      { name: "paint", arguments: args, status },
    ]);
  });

  test("fail when the agent marks their result", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => void emit.toolCall("paint", {}, { id: "c" }),
      {
        type: "TOOL_CALL_RESULT",
        toolCallId: "c",
        messageId: "r",
        content: "no paint",
        metadata: { error: true },
      },
    ]);
    const server = await serveRest(agent);
    expect((await chat(server, { message: "Hi" })).tool_calls).toMatchObject([{ status: "error" }]);
  });
});

describe("a refusal", () => {
  const shared = shareRest(hello);
  const ok = { message: "Hi" };
  const word = "🌦".repeat(10_000);

  test.for<[string, unknown, string, string]>([
    ["no message", {}, "message", "message is required"],
    ["a message that is no string", { message: 5 }, "message", "message must be a string"],
    ["null for a message", { message: null }, "message", "message must be a string"],
    ["an empty message", { message: "" }, "message", "message cannot be blank"],
    ["a blank message", { message: " \n\t\u00a0" }, "message", "message cannot be blank"],
    [
      "a message of 10,001 characters",
      { message: `${word}x` },
      "message",
      "message must have at most 10000 characters",
    ],
    [
      "a session id that is no ULID",
      { ...ok, session_id: "user-123" },
      "session_id",
      "session_id must be valid ULID",
    ],
    [
      "a ULID past the end of time",
      { ...ok, session_id: "81ARZ3NDEKTSV4RRFFQ69G5FAV" },
      "session_id",
      "session_id must be valid ULID",
    ],
    [
      "a session id that is no string",
      { ...ok, session_id: 5 },
      "session_id",
      "session_id must be a string",
    ],
    ["files that are no list", { ...ok, files: {} }, "files", "files must be an array"],
    [
      "a file that is no object",
      { ...ok, files: ["YWJj"] },
      "files.0",
      "a file must be an object with content and mime_type",
    ],
    [
      "a file without content",
      { ...ok, files: [{ mime_type: "text/csv" }] },
      "files.0.content",
      "content is required",
    ],
    [
      "a file without a type",
      { ...ok, files: [{ content: "YWJj" }] },
      "files.0.mime_type",
      "mime_type is required",
    ],
    [
      "eleven files",
      { ...ok, files: Array.from({ length: 11 }, () => ({})) },
      "files",
      "files must be at most 10",
    ],
  ])("of %s names what is wrong and where", async ([, body, at, message]) => {
    const server = shared();
    const response = await server.post(path, body, { headers: { "x-request-id": "q-1" } });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toEqual({
      type: "https://holodeck.dev/errors/invalid-request",
      title: "Invalid Request",
      status: 400,
      detail: message,
      message,
      instance: path,
      code: "invalid-request",
      requestId: "q-1",
      errors: [{ path: at, message }],
    });
  });

  test("counts a message in characters, not in UTF-16 units", async () => {
    const server = shared();
    expect(word.length).toBe(20_000);
    expect(await chat(server, { message: word })).toMatchObject({ content: "Hello world" });
  });

  test("names everything that is wrong at once", async () => {
    const server = shared();
    const file = { content: "YWJ", mime_type: "video/mp4" };
    const body = { message: " ", session_id: "x", files: [file] };
    const { detail, errors } = await problemOf(await server.post(path, body));
    expect(detail).toBe('message cannot be blank (3 more faults in "errors")');
    expect(errors).toEqual([
      { path: "message", message: "message cannot be blank" },
      { path: "session_id", message: "session_id must be valid ULID" },
      { path: "files.0.content", message: "content must be valid base64" },
      { path: "files.0.mime_type", message: "Unsupported MIME type: video/mp4" },
    ]);
  });

  test.for<[string, string, string, number, string]>([
    ["broken JSON", "{", "application/json", 400, "invalid-request"],
    ["a list", "[]", "application/json", 400, "invalid-request"],
    ["null", "null", "application/json", 400, "invalid-request"],
    ["nothing", "", "application/json", 400, "invalid-request"],
    ["plain text", "Hi", "text/plain", 415, "unsupported-media-type"],
  ])("of %s is no accident of the server", async ([, body, type, status, code]) => {
    const server = shared();
    const response = await server.post(path, body, { headers: { "content-type": type } });
    expect(response.status).toBe(status);
    expect(await problemOf(response)).toMatchObject({ status, code });
  });

  test.for(["/agent/xyz/chat", "/agent/xyz/chat/stream"])(
    "names an agent that %s does not find",
    async (at) => {
      const server = shared();
      const response = await server.post(at, { message: "Hi" });
      expect(response.status).toBe(404);
      expect(await problemOf(response)).toMatchObject({
        type: "https://holodeck.dev/errors/agent-not-found",
        title: "Agent Not Found",
        status: 404,
        detail: "Agent 'xyz' is not loaded on this server",
        instance: at,
      });
    },
  );

  test("of another method names those that are allowed", async () => {
    const { url } = shared();
    const response = await fetch(url + path);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain("POST");
    expect(await problemOf(response)).toMatchObject({ code: "method-not-allowed" });
  });

  test("logs what it did not understand, and answers all the same", async () => {
    const server = shared();
    await chat(server, { message: "Hi", agent_id: "x", stream: true });
    expect(server.logged).toContainEqual({
      level: "warn",
      message: "Parts of the body were ignored.",
      requestId: expect.any(String),
      ignored: ["agent_id", "stream"],
    });
  });

  test("of a second run in a session comes before its first word", async () => {
    const [begun, leave] = [deferred(), deferred()];
    const agent: AgentFunction = async function* () {
      begun.resolve();
      await leave.promise;
      yield "done";
    };
    const server = await serveRest(agent);
    const first = chat(server, { message: "Hi", session_id: sessionId });
    await begun.promise;
    const second = await server.post(path, { message: "Hi", session_id: sessionId });
    expect(second.status).toBe(409);
    expect(await problemOf(second)).toMatchObject({ code: "thread-busy" });
    leave.resolve();
    expect(await first).toMatchObject({ content: "done" });
  });
});

describe("an agent that fails", () => {
  test("is a problem without the cause", async () => {
    const server = await serveRest(scriptedAgent(["Hello", { throw: new Error(secret) }]));
    const response = await server.post(path, { message: "Hi" });
    expect(response.status).toBe(500);
    const problem = await problemOf(response);
    expect(problem).toMatchObject({
      type: "https://holodeck.dev/errors/agent-error",
      detail: "The agent failed.",
    });
    expect(JSON.stringify(problem)).not.toContain(secret);
    expect(JSON.stringify(server.logged.map(({ error }) => String(error)))).toContain(secret);
  });

  test("shows why to who asked for it", async () => {
    const server = await serveRest(scriptedAgent([{ throw: new Error(secret) }]), { debug: true });
    const response = await server.post(path, { message: "Hi" });
    expect(await problemOf(response)).toMatchObject({ detail: secret });
  });

  test("may choose the message for its clients", async () => {
    const error = new AgentError("rate-limited", "Later.", { retryAfter: 7 });
    const server = await serveRest(scriptedAgent([{ throw: error }], ["fine"]));
    const response = await server.post(path, { message: "Hi" });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await problemOf(response)).toMatchObject({ code: "rate-limited", detail: "Later." });
    // The server survives, and so does the session.
    expect(await chat(server, { message: "Hi" })).toMatchObject({ content: "fine" });
  });
});

describe("a client that leaves before its answer", () => {
  test.for(["abort", "continue"] as const)(
    "leaves its run to onDisconnect: %s",
    async (onDisconnect) => {
      const [begun, aborted, go] = [deferred(), deferred<unknown>(), deferred()];
      const agent: AgentFunction = async function* (_, { signal }) {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        yield "Half";
        begun.resolve();
        await Promise.race([go.promise, aborted.promise]);
        yield " whole";
      };
      const server = await serveRest(agent, { onDisconnect });
      const leaving = new AbortController();
      const body = { message: "Hi", session_id: sessionId };
      const answer = server.post(path, body, { signal: leaving.signal });
      await begun.promise;
      const [run] = server.handler.runs.list();
      leaving.abort();
      await expect(answer).rejects.toThrow();
      const isAborted = onDisconnect === "abort";
      if (isAborted) expect(await aborted.promise).toMatchObject({ code: "disconnected" });
      else go.resolve();
      const key = { principal: "", threadId: sessionId };
      const { sessions } = server.handler;
      const never = new AbortController().signal;
      const log = sessions.runs.follow({ ...key, ...run! }, 0, never);
      expect((await collect(log)).length).toBeGreaterThan(0);
      const session = await sessions.get(key);
      expect(session?.messages.at(-1)).toMatchObject({
        content: isAborted ? "Half" : "Half whole",
      });
      expect(await sessions.runs.find("", run!.runId)).toMatchObject({
        status: isAborted ? "cancelled" : "finished",
      });
    },
  );
});
