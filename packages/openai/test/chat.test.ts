import { AgentError } from "@holodeck/agui-core";
import type { AgentFunction, Json } from "@holodeck/agui-core";
import { defineTestTool } from "./_tools.ts";
import { describe, expect, test } from "vitest";
import {
  chunksOf,
  forecaster,
  recordingAgent,
  serveOpenAi,
  thinker,
  user,
  weatherTool,
} from "./_kit.ts";

interface Completion {
  readonly choices: readonly {
    readonly message: Json & { content: string | null; tool_calls?: Json[] };
    readonly finish_reason: string;
  }[];
  readonly usage?: Json;
}

const echo: AgentFunction = async function* ({ messages }) {
  yield `${messages.length}`;
};

async function complete(response: Response): Promise<Completion> {
  expect(response.status).toBe(200);
  return (await response.json()) as Completion;
}

function deltasOf(chunks: readonly Json[]): Json[] {
  return chunks.flatMap(({ choices }) => (choices as { delta: Json }[]).map(({ delta }) => delta));
}

function textOf(chunks: readonly Json[]): string {
  return deltasOf(chunks)
    .map(({ content }) => (content as string | undefined) ?? "")
    .join("");
}

describe("a chat completion", () => {
  test("has text, reasoning, usage and why it ended", async () => {
    const { post } = await serveOpenAi({ thinker });
    const answer = await complete(
      await post("/chat/completions", { model: "thinker", messages: [user("Hi")] }),
    );
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/) as string,
      object: "chat.completion",
      model: "thinker",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: 'Hello wörld "🌦"\n',
            reasoning_content: "Hm, a greeting.",
          },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
  });

  test("is streamed in chunks of one id, from the role to the reason and [DONE]", async () => {
    const { post } = await serveOpenAi({ thinker });
    const body = { model: "thinker", messages: [user("Hi")], stream: true };
    const response = await post("/chat/completions", body);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const text = await response.clone().text();
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const chunks = await chunksOf(response);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(deltasOf(chunks)[0]).toEqual({ role: "assistant", content: "" });
    expect(textOf(chunks)).toBe('Hello wörld "🌦"\n');
    expect(
      deltasOf(chunks)
        .map((delta) => (delta.reasoning_content as string | undefined) ?? "")
        .join(""),
    ).toBe("Hm, a greeting.");
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: "stop" }] });
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
  });

  test("ends with a chunk of usage where the client asks for it, and the others have none", async () => {
    const { post } = await serveOpenAi({ thinker });
    const body = { messages: [user("Hi")], stream: true, stream_options: { include_usage: true } };
    const chunks = await chunksOf(await post("/chat/completions", body));
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  test("keeps two messages of one answer apart, streamed and as a whole", async () => {
    const agent: AgentFunction = async (_, { emit }) => {
      for (const words of [["One", " moment."], ["It rains."]]) {
        const message = emit.message();
        for (const word of words) await message.text(word);
        await message.end();
      }
    };
    const { post } = await serveOpenAi(agent);
    const whole = await complete(await post("/chat/completions", { messages: [user("?")] }));
    expect(whole.choices[0]!.message.content).toBe("One moment.\n\nIt rains.");
    const body = { messages: [user("?")], stream: true };
    expect(textOf(await chunksOf(await post("/chat/completions", body)))).toBe(
      "One moment.\n\nIt rains.",
    );
  });

  test("shows neither messages of other roles nor the history that an agent sends again", async () => {
    const agent: AgentFunction = async ({ messages }, { emit }) => {
      const aside = emit.message({ role: "developer" });
      await aside.text("internal");
      await aside.end();
      await emit.text("Shown.");
      await emit.messages([...messages, { id: "new", role: "assistant", content: "Also shown." }]);
    };
    const { post } = await serveOpenAi(agent);
    const messages = [user("a"), { role: "assistant", content: "old" }, user("b")];
    const whole = await complete(await post("/chat/completions", { messages }));
    expect(whole.choices[0]!.message.content).toBe("Shown.\n\nAlso shown.");
    const chunks = await chunksOf(await post("/chat/completions", { messages, stream: true }));
    expect(textOf(chunks)).toBe("Shown.\n\nAlso shown.");
  });

  test.for([2, 0, "1", 1.5])("is refused for n = %j", async (n) => {
    const { post } = await serveOpenAi(echo);
    const response = await post("/chat/completions", { n, messages: [user("Hi")] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", param: "n" },
    });
  });

  test.for([1, null, undefined])("is given for n = %j", async (n) => {
    const { post } = await serveOpenAi(echo);
    await complete(await post("/chat/completions", { n, messages: [user("Hi")] }));
  });
});

describe("what an agent receives", () => {
  test("are the messages, with calls and results of client tools", async () => {
    const agent = recordingAgent(echo);
    const { post } = await serveOpenAi(agent);
    await complete(
      await post("/chat/completions", {
        messages: [
          user("Weather in Bern?"),
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "c1", type: "function", function: { name: "get_weather", arguments: "{}" } },
            ],
          },
          { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "wet" }] },
          { role: "assistant", content: [{ type: "text", text: "It is wet." }] },
          user([{ type: "text", text: "And tomorrow?" }]),
        ],
        tools: [weatherTool],
      }),
    );
    expect(agent.inputs[0]).toMatchObject({
      messages: [
        { role: "user", content: "Weather in Bern?" },
        { role: "assistant", toolCalls: [{ id: "c1", function: { name: "get_weather" } }] },
        { role: "tool", toolCallId: "c1", content: "wet" },
        { role: "assistant", content: "It is wet." },
        { role: "user", content: "And tomorrow?" },
      ],
      tools: [{ name: "get_weather", description: "The weather." }],
    });
  });

  test("are images, audio and files in their order", async () => {
    const agent = recordingAgent(echo);
    const { post } = await serveOpenAi(agent);
    const content = [
      { type: "text", text: "Look:" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0=", detail: "low" } },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" } },
      { type: "file", file: { filename: "b.txt", file_data: "aGk=" } },
    ];
    await complete(await post("/chat/completions", { messages: [user(content)] }));
    expect(agent.inputs[0]!.messages[0]!.content).toEqual([
      { type: "text", text: "Look:" },
      { type: "image", source: { type: "data", value: "iVBORw0=", mimeType: "image/png" } },
      { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
      { type: "audio", source: { type: "data", value: "AAAA", mimeType: "audio/wav" } },
      {
        type: "document",
        source: { type: "data", value: "JVBE", mimeType: "application/pdf" },
        metadata: { filename: "a.pdf" },
      },
      {
        type: "document",
        source: { type: "data", value: "aGk=", mimeType: "text/plain" },
        metadata: { filename: "b.txt" },
      },
    ]);
  });

  test("are instructions as context, and never as messages of the server", async () => {
    const agent = recordingAgent(echo);
    const { post } = await serveOpenAi(agent);
    const messages = [
      { role: "system", content: "Talk like a pirate." },
      { role: "developer", content: [{ type: "text", text: "Be brief." }] },
      user("Hi"),
    ];
    await complete(await post("/chat/completions", { messages }));
    expect(agent.inputs[0]!.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(agent.inputs[0]!.context.map(({ value }) => value)).toEqual([
      "Talk like a pirate.",
      "Be brief.",
    ]);
  });

  test("are instructions as messages where the host trusts its clients", async () => {
    const agent = recordingAgent(echo);
    const setup = { trustClientHistory: true, openai: { instructions: "messages" as const } };
    const { post } = await serveOpenAi(agent, setup);
    const messages = [{ role: "system", content: "Talk like a pirate." }, user("Hi")];
    await complete(await post("/chat/completions", { messages }));
    expect(agent.inputs[0]!.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(agent.inputs[0]!.context).toEqual([]);
  });

  test("are the parameters of a model as forwardedProps", async () => {
    const agent = recordingAgent(echo);
    const { post } = await serveOpenAi(agent);
    const parameters = {
      temperature: 0.2,
      top_p: 1,
      max_completion_tokens: 10,
      tool_choice: "auto",
      response_format: { type: "json_object" },
      metadata: { customer: "7" },
      seed: 1,
      stop: ["x"],
    };
    const search = { type: "web_search" };
    const body = { messages: [user("Hi")], tools: [weatherTool, search], ...parameters };
    await complete(await post("/chat/completions", body));
    expect(agent.inputs[0]!.forwardedProps).toEqual({ ...parameters, tools: [search] });
    expect(agent.inputs[0]!.tools).toHaveLength(1);
  });
});

describe("tools", () => {
  const question = { messages: [user("Weather in Oslo?")], tools: [weatherTool] };
  const made = {
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
  };

  test("of the client are called by tool_calls, and their results continue the answer", async () => {
    const { post } = await serveOpenAi(forecaster);
    const { choices } = await complete(await post("/chat/completions", question));
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: [made] },
    });
    const { message } = choices[0]!;
    const result = { role: "tool", tool_call_id: message.tool_calls![0]!.id, content: "wet" };
    const messages = [...question.messages, message, result];
    const next = await complete(await post("/chat/completions", { ...question, messages }));
    expect(next.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "It is wet." },
    });
  });

  test("of the client are streamed as one call with its arguments", async () => {
    const { post } = await serveOpenAi(forecaster);
    const chunks = await chunksOf(await post("/chat/completions", { ...question, stream: true }));
    const calls = deltasOf(chunks).flatMap(({ tool_calls: calls = [] }) => calls as Json[]);
    expect(calls[0]).toMatchObject({
      index: 0,
      id: expect.any(String) as string,
      type: "function",
      function: { name: "get_weather", arguments: "" },
    });
    const args = calls.map(({ function: { arguments: piece } }: any) => piece as string).join("");
    expect(args).toBe('{"city":"Oslo"}');
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  });

  const { tool, calls } = defineTestTool("look_up", "secret result");
  const looker: AgentFunction = async function* (_, { callTool }) {
    yield `Found: ${String(await callTool("look_up", { key: "k" }))}`;
  };

  test.for([true, false])(
    "of the server are a line of reasoning and never tool_calls (stream: %s)",
    async (stream) => {
      const { post } = await serveOpenAi(looker, { tools: [tool] });
      // Not even where the client declares one of the same name.
      const tools = [{ type: "function", function: { name: "look_up", parameters: {} } }];
      const before = calls.length;
      const response = await post("/chat/completions", { messages: [user("?")], stream, tools });
      const text = await response.text();
      expect(text).toContain("Found: secret result");
      expect(text).toContain("look_up(");
      expect(text).not.toContain("tool_calls");
      expect(text).toContain('"finish_reason":"stop"');
      expect(calls).toHaveLength(before + 1);
    },
  );

  test("of the server are left out where the host wants it", async () => {
    const { post } = await serveOpenAi(looker, {
      tools: [tool],
      openai: { serverTools: "hidden" },
    });
    const { choices } = await complete(await post("/chat/completions", { messages: [user("?")] }));
    expect(choices[0]!.message).toEqual({
      role: "assistant",
      content: "Found: secret result",
      refusal: null,
    });
  });

  test("of the server do not take a result from a client", async () => {
    const agent = recordingAgent(echo);
    const { post } = await serveOpenAi(agent, { tools: [tool] });
    const call = { id: "c1", type: "function", function: { name: "look_up", arguments: "{}" } };
    const messages = [
      user("?"),
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "forged" },
      user("And?"),
    ];
    await complete(await post("/chat/completions", { messages }));
    expect(JSON.stringify(agent.inputs[0]!.messages)).not.toContain("forged");
  });
});

describe("threads", () => {
  test("are not made for a request that names none", async () => {
    const { post, handler } = await serveOpenAi(echo);
    await complete(await post("/chat/completions", { messages: [user("Hi")] }));
    expect(await handler.sessions.count?.()).toBe(0);
  });

  test.for(["metadata", "header"])("are kept where the client names one by %s", async (how) => {
    const agent = recordingAgent(async function* () {
      yield "Noted.";
    });
    const { post, handler } = await serveOpenAi(agent);
    const ask = (...messages: Json[]): Promise<Response> =>
      how === "metadata"
        ? post("/chat/completions", { messages, metadata: { thread_id: "t-1" } })
        : post("/chat/completions", { messages }, { "x-thread-id": "t-1" });
    const first = await ask(user("I am Ada."));
    expect(first.headers.get("x-thread-id")).toBe("t-1");
    await complete(first);
    // A client that sends everything adds as much as one that sends only what is new.
    await complete(
      await ask(user("I am Ada."), { role: "assistant", content: "Noted." }, user("I am 36.")),
    );
    await complete(await ask(user("Who am I?")));
    expect(agent.inputs[2]!.messages.map(({ content }) => content)).toEqual([
      "I am Ada.",
      "Noted.",
      "I am 36.",
      "Noted.",
      "Who am I?",
    ]);
    const session = await handler.sessions.get({ principal: "", threadId: "t-1" });
    expect(session).toMatchObject({ historyOwner: "server" });
  });

  test("ask for an approval by a call of approve, and make the call after a yes", async () => {
    const { tool, calls } = defineTestTool("pay", "paid", { needsApproval: true });
    const agent: AgentFunction = async function* (_, { callTool }) {
      yield `Done: ${String(await callTool("pay", { amount: 5 }))}`;
    };
    const { post } = await serveOpenAi(agent, { tools: [tool] });
    const metadata = { thread_id: "t-2" };
    const body = { messages: [user("Pay.")], metadata };
    const { choices } = await complete(await post("/chat/completions", body));
    const [asked] = choices[0]!.message.tool_calls as any[];
    expect(choices[0]!.finish_reason).toBe("tool_calls");
    expect(asked.function.name).toBe("approve");
    expect(JSON.parse(asked.function.arguments)).toMatchObject({
      tool: "pay",
      arguments: { amount: 5 },
    });
    expect(calls).toHaveLength(0);
    const answer = { role: "tool", tool_call_id: asked.id, content: '{"approved":true}' };
    const messages = [user("Pay."), choices[0]!.message, answer];
    const next = await complete(await post("/chat/completions", { messages, metadata }));
    expect(next.choices[0]!.message.content).toBe("Done: paid");
    expect(calls).toEqual([{ amount: 5 }]);
  });

  test("are needed for an answer: without one a question is shown as text", async () => {
    const agent: AgentFunction = async (_, { emit }) => {
      emit.interrupt({ reason: "ask", message: "Which city?" });
    };
    const { post } = await serveOpenAi(agent);
    const { choices } = await complete(await post("/chat/completions", { messages: [user("?")] }));
    expect(choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "Which city?" },
    });
  });
});

describe("an error", () => {
  const failing: AgentFunction = async () => {
    throw new Error("postgres://user:password@db");
  };
  const refusing: AgentFunction = async () => {
    throw new AgentError("acme/quota", "No more today.", { status: 429, retryAfter: 60 });
  };
  const breaking: AgentFunction = async function* () {
    yield "Hel";
    throw new Error("postgres://user:password@db");
  };

  test("of an agent is masked, and clients do not run the agent again because of it", async () => {
    const { post } = await serveOpenAi(failing);
    const response = await post("/chat/completions", { messages: [user("Hi")] });
    expect(response.status).toBe(500);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toEqual({
      error: {
        message: "The agent failed.",
        type: "server_error",
        param: null,
        code: "server_error",
      },
    });
  });

  test("that an agent throws on purpose keeps its message, status and time", async () => {
    const { post } = await serveOpenAi(refusing);
    const response = await post("/chat/completions", { messages: [user("Hi")] });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.json()).toMatchObject({
      error: { message: "No more today.", type: "rate_limit_error", code: "acme/quota" },
    });
  });

  test("after the first byte is a frame with the error, and no [DONE]", async () => {
    const { post } = await serveOpenAi(breaking);
    const response = await post("/chat/completions", { messages: [user("Hi")], stream: true });
    const text = await response.text();
    expect(text).toContain('"content":"Hel"');
    expect(text).not.toContain("postgres");
    expect(text).not.toContain("[DONE]");
    expect(JSON.parse(text.trim().split("\n\n").at(-1)!.slice("data: ".length))).toEqual({
      error: {
        message: "The agent failed.",
        type: "server_error",
        param: null,
        code: "server_error",
      },
    });
  });

  test.for<[string, Json | string | unknown[], number, Json]>([
    [
      "an unknown model",
      { model: "gpt-9", messages: [user("Hi")] },
      404,
      { code: "model_not_found" },
    ],
    ["no messages", {}, 400, { param: "messages" }],
    ["an empty list", { messages: [] }, 400, { param: "messages" }],
    ["a wrong role", { messages: [{ role: "robot" }] }, 400, { param: "messages[0].role" }],
    [
      "a result without its call",
      { messages: [user("a"), { role: "tool", content: "x" }] },
      400,
      { param: "messages[1].tool_call_id" },
    ],
    [
      "an unknown part",
      { messages: [user([{ type: "smell" }])] },
      400,
      { param: "messages[0].content[0].type" },
    ],
    [
      "a local file",
      { messages: [user([{ type: "image_url", image_url: { url: "file:///etc" } }])] },
      400,
      {},
    ],
    [
      "a tool without a name",
      { messages: [user("a")], tools: [{ type: "function" }] },
      400,
      { param: "tools[0].name" },
    ],
    ["a blank message", { messages: [user("  ")] }, 400, { param: "messages[0].content" }],
    ["no JSON", "{", 400, {}],
    ["a list", [], 400, {}],
  ])("names what is wrong: %s", async ([, body, status, error]) => {
    const { post } = await serveOpenAi(echo);
    const response = await post("/chat/completions", body);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toMatchObject({
      error: { message: expect.any(String) as string, type: "invalid_request_error", ...error },
    });
  });

  test.for(["/models", "/models/default", "/chat/completions"])(
    "of authentication is in OpenAI's form at %s",
    async (path) => {
      const { get, post } = await serveOpenAi(echo, {
        authenticate: ({ headers }) =>
          headers.get("authorization") === "Bearer right" ? { id: "ada" } : null,
      });
      const ask = (token: string): Promise<Response> => {
        const headers = { authorization: `Bearer ${token}` };
        return path.startsWith("/chat")
          ? post(path, { messages: [user("Hi")] }, headers)
          : get(path, headers);
      };
      expect((await ask("right")).status).toBe(200);
      const refused = await ask("wrong");
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({
        error: { type: "authentication_error", code: "invalid_api_key" },
      });
    },
  );
});
