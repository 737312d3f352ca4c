import type { AgentFunction, Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { forecaster, recordingAgent, serveOpenAi, thinker } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";
import { defineTestTool } from "./_tools.ts";

interface ResponseJson extends Json {
  readonly id: string;
  readonly status: string;
  readonly output: readonly (Json & { id: string; type: string; content: any })[];
}

const weather = { type: "function", name: "get_weather", parameters: { type: "object" } };

const counter: AgentFunction = async function* ({ messages }) {
  yield `${messages.length} messages`;
};

const memo = (): ReturnType<typeof recordingAgent> =>
  recordingAgent(async function* ({ messages }) {
    yield messages.map(({ content }) => content as string).join("|");
  });

async function create(server: OpenAiServer, body: Json): Promise<ResponseJson> {
  const response = await server.post("/responses", body);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as ResponseJson;
}

async function eventsOf(response: Response): Promise<Json[]> {
  expect(response.status).toBe(200);
  const events: Json[] = [];
  for await (const { event, data } of readSse(response)) {
    if (data === "[DONE]") continue;
    const json = JSON.parse(data) as Json;
    expect(json.type).toBe(event);
    events.push(json);
  }
  return events;
}

const textOf = ({ output }: ResponseJson): string =>
  output
    .flatMap(({ type, content }) => (type === "message" ? (content[0].text as string) : []))
    .join("\n");

const typesOf = (events: readonly Json[]): string[] => {
  const types = events.map(({ type }) => type as string);
  return types.filter((type, index) => type !== types[index - 1]);
};

describe("a response", () => {
  test("has all members that Open Responses requires, and repeats the request", async () => {
    const server = await serveOpenAi({ thinker });
    const response = await create(server, {
      model: "thinker",
      input: "Hi",
      instructions: "Be brief.",
      temperature: 0.5,
      metadata: { customer: "7" },
      tools: [weather],
    });
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/) as string,
      object: "response",
      status: "completed",
      model: "thinker",
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      previous_response_id: null,
      temperature: 0.5,
      top_p: 1,
      metadata: { customer: "7" },
      tools: [{ type: "function", name: "get_weather", description: null, strict: null }],
      tool_choice: "auto",
      text: { format: { type: "text" } },
      store: true,
      background: false,
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 2 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 12,
      },
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "Hm, a greeting." }] },
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: 'Hello wörld "🌦"\n', annotations: [] }],
        },
      ],
    });
    expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at as number);
  });

  test("is streamed with every event in its order, numbered without a gap", async () => {
    const server = await serveOpenAi({ thinker });
    const events = await eventsOf(await server.post("/responses", { input: "Hi", stream: true }));
    expect(typesOf(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ delta }) => delta as string).join("")).toBe('Hello wörld "🌦"\n');
    const last = events.at(-1) as { response: ResponseJson };
    const items = events.filter(({ type }) => type === "response.output_item.done");
    expect(last.response.output).toEqual(items.map(({ item }) => item));
  });

  test("is found again as it was sent, with its input", async () => {
    const server = await serveOpenAi({ thinker });
    const response = await create(server, { model: "thinker", input: "Hi", metadata: { a: "b" } });
    const again = (await (await server.get(`/responses/${response.id}`)).json()) as ResponseJson;
    const times = { created_at: 0, completed_at: 0 };
    expect({ ...again, ...times }).toEqual({ ...response, ...times });
    const items = await (await server.get(`/responses/${response.id}/input_items`)).json();
    expect(items).toMatchObject({
      object: "list",
      data: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      has_more: false,
    });
  });

  test("lists its input page by page, in both orders", async () => {
    const server = await serveOpenAi(counter);
    const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    const { id } = await create(server, { input });
    const list = async (query: string): Promise<any> =>
      (await server.get(`/responses/${id}/input_items?${query}`)).json();
    const texts = ({ data }: any): string[] => data.map((item: any) => item.content[0].text);
    expect(texts(await list(""))).toEqual(["c", "b", "a"]);
    const first = await list("order=asc&limit=2");
    expect(texts(first)).toEqual(["a", "b"]);
    expect(first.has_more).toBe(true);
    expect(texts(await list(`order=asc&limit=2&after=${first.last_id}`))).toEqual(["c"]);
    expect((await server.get(`/responses/${id}/input_items?limit=0`)).status).toBe(400);
  });

  test("reads images, files, history and instructions from its items", async () => {
    const agent = recordingAgent(counter);
    const server = await serveOpenAi(agent);
    await create(server, {
      instructions: "One.",
      input: [
        { role: "developer", content: "Two." },
        { type: "message", role: "user", content: "Weather?" },
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "function_call", call_id: "c1", name: "get_weather", arguments: "{}" },
        { type: "function_call", call_id: "c2", name: "get_weather", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "wet" },
        {
          type: "function_call_output",
          call_id: "c2",
          output: [{ type: "input_text", text: "dry" }],
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Wet." }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "And this?" },
            { type: "input_image", image_url: "data:image/png;base64,iVBORw0=" },
            {
              type: "input_file",
              filename: "a.pdf",
              file_data: "data:application/pdf;base64,JVBE",
            },
          ],
        },
      ],
    });
    const [input] = agent.inputs;
    expect(input!.context.map(({ value }) => value)).toEqual(["One.", "Two."]);
    expect(input!.messages).toMatchObject([
      { role: "user", content: "Weather?" },
      { role: "assistant", toolCalls: [{ id: "c1" }, { id: "c2" }] },
      { role: "tool", toolCallId: "c1", content: "wet" },
      { role: "tool", toolCallId: "c2", content: "dry" },
      { role: "assistant", content: "Wet." },
      { role: "user", content: [{ type: "text" }, { type: "image" }, { type: "document" }] },
    ]);
  });

  test("of a failed run is an error before the first byte, and failed after it", async () => {
    const agent: AgentFunction = async function* () {
      yield "Hel";
      throw new Error("postgres://user:password@db");
    };
    const server = await serveOpenAi(agent);
    const refused = await server.post("/responses", { input: "Hi" });
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({ error: { message: "The agent failed." } });
    const events = await eventsOf(await server.post("/responses", { input: "Hi", stream: true }));
    expect(JSON.stringify(events)).not.toContain("postgres");
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: {
        status: "failed",
        error: { code: "server_error", message: "The agent failed." },
        output: [{ type: "message", content: [{ text: "Hel" }] }],
      },
    });
  });

  test.for<[string, Json, string]>([
    ["no input", {}, "input"],
    ["a wrong input", { input: 5 }, "input"],
    ["a wrong role", { input: [{ role: "robot", content: "x" }] }, "input[0].role"],
    [
      "a result without its call",
      { input: [{ type: "function_call_output" }] },
      "input[0].call_id",
    ],
    [
      "two threads",
      { input: "x", conversation: "c", previous_response_id: "resp_x" },
      "conversation",
    ],
    ["a hidden background", { input: "x", background: true, store: false }, "background"],
    ["a blank message", { input: " " }, "messages[0].content"],
  ])("is refused for %s, with the name of what is wrong", async ([, body, param]) => {
    const { post, handler } = await serveOpenAi(counter);
    const response = await post("/responses", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
    expect(await handler.sessions.count?.()).toBe(0);
  });
});

describe("a conversation", () => {
  test("goes on by previous_response_id", async () => {
    const agent = memo();
    const server = await serveOpenAi(agent);
    const first = await create(server, { input: "a" });
    const second = await create(server, { input: "b", previous_response_id: first.id });
    const third = await create(server, { input: "c", previous_response_id: second.id });
    expect(third.previous_response_id).toBe(second.id);
    expect(textOf(third)).toBe("a|a|b|a|a|b|c");
  });

  test("branches where an earlier response is continued, and both branches go on", async () => {
    const server = await serveOpenAi(memo());
    const first = await create(server, { input: "a" });
    const second = await create(server, { input: "b", previous_response_id: first.id });
    const branch = await create(server, { input: "x", previous_response_id: first.id });
    expect(textOf(branch)).toBe("a|a|x");
    const next = await create(server, { input: "y", previous_response_id: branch.id });
    expect(textOf(next)).toBe("a|a|x|a|a|x|y");
    const other = await create(server, { input: "c", previous_response_id: second.id });
    expect(textOf(other)).toBe("a|a|b|a|a|b|c");
  });

  test.for(["t-1", { id: "t-1" }])(
    "is a thread that the client names: %j",
    async (conversation) => {
      const server = await serveOpenAi(memo());
      await create(server, { input: "a", conversation });
      const second = await create(server, { input: "b", conversation });
      expect(textOf(second)).toBe("a|a|b");
      expect(second.conversation).toEqual({ id: "t-1" });
      const third = await create(server, { input: "c", previous_response_id: second.id });
      expect(textOf(third)).toBe("a|a|b|a|a|b|c");
      expect(await server.handler.sessions.get({ principal: "", threadId: "t-1" })).toMatchObject({
        historyOwner: "server",
      });
    },
  );

  test("takes items of earlier outputs by reference", async () => {
    const agent = recordingAgent(async function* () {
      yield "Noted.";
    });
    const server = await serveOpenAi(agent);
    const first = await create(server, { input: "a" });
    await create(server, {
      input: [
        { role: "user", content: "a" },
        { type: "item_reference", id: first.output[0]!.id },
        { role: "user", content: "b" },
      ],
    });
    expect(agent.inputs[1]!.messages.map(({ content }) => content)).toEqual(["a", "Noted.", "b"]);
    const unknown = [{ type: "item_reference", id: "msg_1" }];
    expect((await server.post("/responses", { input: unknown })).status).toBe(404);
  });

  test("leaves nothing behind with store: false, and may continue one that is kept", async () => {
    const server = await serveOpenAi(memo());
    const { handler } = server;
    const hidden = await create(server, { input: "a", store: false });
    expect(hidden.store).toBe(false);
    expect(await handler.sessions.count?.()).toBe(0);
    expect((await server.get(`/responses/${hidden.id}`)).status).toBe(404);
    const next = { input: "b", previous_response_id: hidden.id };
    expect((await server.post("/responses", next)).status).toBe(404);
    const kept = await create(server, { input: "a" });
    const aside = await create(server, {
      input: "b",
      store: false,
      previous_response_id: kept.id,
    });
    expect(textOf(aside)).toBe("a|a|b");
    expect(textOf(await create(server, { input: "c", previous_response_id: kept.id }))).toBe(
      "a|a|c",
    );
  });
});

describe("tools", () => {
  const question = { input: "What is the weather in Oslo?", tools: [weather] };

  test("of the client are function calls, and their outputs continue the conversation", async () => {
    const server = await serveOpenAi(forecaster);
    const first = await create(server, question);
    expect(first.output).toMatchObject([
      {
        type: "function_call",
        status: "completed",
        name: "get_weather",
        arguments: '{"city":"Oslo"}',
      },
    ]);
    const output = {
      type: "function_call_output",
      call_id: first.output[0]!.call_id,
      output: "wet",
    };
    const second = await create(server, {
      input: [output],
      tools: [weather],
      previous_response_id: first.id,
    });
    expect(textOf(second)).toBe("It is wet.");
  });

  test("of the client are streamed with their arguments", async () => {
    const server = await serveOpenAi(forecaster);
    const events = await eventsOf(await server.post("/responses", { ...question, stream: true }));
    expect(typesOf(events).slice(2, -1)).toEqual([
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
    ]);
  });

  test("of the server are reasoning", async () => {
    const { tool } = defineTestTool("look_up", "secret result");
    const agent: AgentFunction = async function* (_, { callTool }) {
      yield `Found: ${String(await callTool("look_up", { key: "k" }))}`;
    };
    const server = await serveOpenAi(agent, { tools: [tool] });
    const { output } = await create(server, { input: "?" });
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ text: 'look_up({"key":"k"})\n' }] },
      { type: "message" },
    ]);
  });

  const payer = (): { agent: AgentFunction; tool: any; calls: unknown[] } => ({
    ...defineTestTool("pay", "paid", { needsApproval: true }),
    agent: async function* (_, { callTool }) {
      yield `Done: ${String(await callTool("pay", { amount: 5 }))}`;
    },
  });

  test.for([true, false])("ask for approval by mcp_approval_request: %s", async (approve) => {
    const { agent, tool, calls } = payer();
    const server = await serveOpenAi(agent, { tools: [tool] });
    const first = await create(server, { input: "Pay." });
    expect(first.status).toBe("completed");
    const asked = first.output.find(({ type }) => type === "mcp_approval_request")!;
    expect(asked).toMatchObject({
      name: "pay",
      arguments: '{"amount":5}',
      server_label: "default",
    });
    expect(calls).toEqual([]);
    const answer = { type: "mcp_approval_response", approval_request_id: asked.id, approve };
    const response = await server.post("/responses", {
      input: [answer],
      previous_response_id: first.id,
    });
    expect(calls).toEqual(approve ? [{ amount: 5 }] : []);
    if (approve) expect(textOf((await response.json()) as ResponseJson)).toBe("Done: paid");
    // An answer counts once.
    const again = await server.post("/responses", {
      input: [answer],
      previous_response_id: first.id,
    });
    expect(again.status).toBe(409);
    expect(calls).toHaveLength(approve ? 1 : 0);
  });

  test("ask plain clients by a call of approve", async () => {
    const { agent, tool, calls } = payer();
    const server = await serveOpenAi(agent, { tools: [tool], openai: { approvals: "function" } });
    const first = await create(server, { input: "Pay." });
    const asked = first.output.find(({ type }) => type === "function_call")!;
    expect(asked).toMatchObject({ name: "approve", status: "completed" });
    const output = { type: "function_call_output", call_id: asked.call_id, output: "true" };
    const next = await create(server, { input: [output], previous_response_id: first.id });
    expect(textOf(next)).toBe("Done: paid");
    expect(calls).toEqual([{ amount: 5 }]);
  });

  test("interrupts are a call of respond, and its output is the answer", async () => {
    const agent: AgentFunction = async function* ({ resume }, { emit }) {
      if (resume?.length) yield `You chose ${JSON.stringify(resume[0]!.payload)}.`;
      else emit.interrupt({ reason: "choice", message: "Which city?" });
    };
    const server = await serveOpenAi(agent);
    const first = await create(server, { input: "Weather?" });
    const [asked] = first.output;
    expect(asked).toMatchObject({ type: "function_call", name: "respond" });
    expect(JSON.parse(asked!.arguments as string)).toMatchObject({ message: "Which city?" });
    const output = {
      type: "function_call_output",
      call_id: asked!.call_id,
      output: '{"city":"Bern"}',
    };
    const next = await create(server, { input: [output], previous_response_id: first.id });
    expect(textOf(next)).toBe('You chose {"city":"Bern"}.');
  });
});
