// What Open WebUI 0.10 and LibreChat 0.8 send to a custom endpoint, as their sources build it; neither of them runs here.
import type { AgentFunction, Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { chunksOf, forecaster, recordingAgent, serveOpenAi, thinker, user } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";

const headers = { authorization: "Bearer sk-1" };
const serveApp = (agent: AgentFunction): Promise<OpenAiServer> =>
  serveOpenAi(
    { helper: agent },
    {
      authenticate: (request) =>
        request.headers.get("authorization") === headers.authorization ? { id: "app" } : null,
    },
  );
const picture = `data:image/png;base64,${btoa("\u0089PNG\r\n\u001a\n")}`;

/** A chat app reads the lines of a stream that begin with `data:`, up to `[DONE]`. */
async function readLines(
  response: Response,
): Promise<{ text: string; thought: string; calls: Json[] }> {
  let [text, thought] = ["", ""];
  const calls: Json[] = [];
  for (const chunk of await chunksOf(response)) {
    const [choice] = chunk.choices as { delta: Json }[];
    const { content, reasoning_content: reason, tool_calls: parts } = choice?.delta ?? {};
    text += typeof content === "string" ? content : "";
    thought += typeof reason === "string" ? reason : "";
    for (const part of (parts ?? []) as { index: number; id?: string; function: Json }[]) {
      const call = (calls[part.index] ??= {
        index: part.index,
        id: part.id,
        type: "function",
        function: { name: part.function.name, arguments: "" },
      });
      (call.function as { arguments: string }).arguments +=
        (part.function.arguments as string | undefined) ?? "";
    }
  }
  return { text, thought, calls };
}

describe.for(["Open WebUI", "LibreChat"])("%s", (app) => {
  test("finds the agents with the key of its connection", async () => {
    const server = await serveApp(thinker);
    // LibreChat may add the user.
    const query = app === "LibreChat" ? "?user=64f0" : "";
    const list = await server.get(`/models${query}`, {
      "content-type": "application/json",
      ...headers,
    });
    expect(await list.json()).toMatchObject({ data: [{ id: "helper", object: "model" }] });
    expect((await server.get("/models")).status).toBe(401);
  });

  test("streams a chat with its parameters, known or not", async () => {
    const agent = recordingAgent(thinker);
    const server = await serveApp(agent);
    const parameters =
      app === "Open WebUI"
        ? {
            temperature: 0.7,
            min_p: 0.1,
            seed: 7,
            stop: ["###"],
            logit_bias: { "5": -100 },
            max_tokens: 900,
            reasoning_effort: "low",
            num_ctx: 4096,
            response_format: { type: "json_object" },
          }
        : {
            temperature: 1,
            top_p: 1,
            presence_penalty: 0,
            frequency_penalty: 0,
            user: "64f0",
            verbosity: "low",
            reasoning_effort: "",
          };
    const body = {
      model: "helper",
      stream: true,
      stream_options: { include_usage: true },
      ...parameters,
      messages: [
        { role: "system", content: "Be brief." },
        user("Hi"),
        { role: "assistant", content: "Hello." },
        user("Again"),
      ],
    };
    const response = await server.post("/chat/completions", body, headers);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const chunks = await chunksOf(response.clone());
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 12 } });
    expect(await readLines(response)).toMatchObject({
      text: 'Hello wörld "🌦"\n',
      thought: "Hm, a greeting.",
    });
    const [input] = agent.inputs;
    expect(input!.forwardedProps).toMatchObject(parameters);
    expect(input!.context).toMatchObject([{ value: "Be brief." }]);
    expect(input!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("asks for a title, tags and next questions in plain requests of one message", async () => {
    const agent = recordingAgent(async () => '{ "title": "Weather" }');
    const server = await serveApp(agent);
    for (const task of ["Write a title.", "Write tags.", "Suggest next questions."]) {
      const content = `### Task:\n${task}\n<chat_history>\nUSER: Hi\n</chat_history>`;
      const body = { model: "helper", messages: [user(content)], stream: false, max_tokens: 1000 };
      const answer = (await (await server.post("/chat/completions", body, headers)).json()) as Json;
      expect(answer).toMatchObject({
        choices: [{ message: { content: '{ "title": "Weather" }' } }],
      });
    }
    // Each is a conversation by itself: nothing of it is kept.
    expect(agent.inputs.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    expect(new Set(agent.inputs.map(({ threadId }) => threadId)).size).toBe(3);
  });

  test("makes the calls of the tools that it has, and sends the results", async () => {
    const server = await serveApp(forecaster);
    const tools = [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "",
          parameters: { type: "object", properties: { city: { type: "string" } } },
        },
      },
    ];
    const body = { model: "helper", stream: true, tools, messages: [user("Weather in Oslo?")] };
    const { calls } = await readLines(await server.post("/chat/completions", body, headers));
    expect(calls).toMatchObject([
      { function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
    ]);
    // Open WebUI leaves the index in the call and adds the reasoning; LibreChat sends no content.
    const assistant =
      app === "Open WebUI"
        ? { role: "assistant", content: "", tool_calls: calls, reasoning_content: "Hm." }
        : {
            role: "assistant",
            content: null,
            tool_calls: calls.map((call) => ({ ...call, index: undefined })),
          };
    const result = {
      role: "tool",
      tool_call_id: calls[0]!.id,
      content: "wet",
      ...(app === "LibreChat" && { name: "get_weather" }),
    };
    const next = { ...body, messages: [...body.messages, assistant, result] };
    const { text } = await readLines(await server.post("/chat/completions", next, headers));
    expect(text).toBe("It is wet.");
  });

  test("sends a picture beside the text", async () => {
    const agent = recordingAgent(thinker);
    const server = await serveApp(agent);
    const image = app === "Open WebUI" ? { url: picture } : { url: picture, detail: "auto" };
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: image },
    ];
    const body = { model: "helper", stream: true, messages: [user(content)] };
    await readLines(await server.post("/chat/completions", body, headers));
    expect(agent.inputs[0]!.messages[0]!.content).toMatchObject([
      { type: "text", text: "What is it?" },
      { type: "image", source: { type: "data", mimeType: "image/png" } },
    ]);
  });

  test("stops an answer by closing its connection", async () => {
    let stop = (): void => {};
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const server = await serveApp(async function* (_input, { signal }) {
      signal.addEventListener("abort", stop);
      yield "one";
      await stopped;
    });
    const closing = new AbortController();
    const response = await fetch(`${server.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "helper", stream: true, messages: [user("Hi")] }),
      signal: closing.signal,
    });
    for await (const { data } of readSse(response)) if (data.includes('"one"')) break;
    closing.abort();
    await stopped;
  });
});

test("Open WebUI: a connection to Responses sends stored items and the results of calls", async () => {
  const agent = recordingAgent(forecaster);
  const server = await serveApp(agent);
  const body = {
    model: "helper",
    stream: true,
    instructions: "Be brief.",
    max_output_tokens: 900,
    tools: [
      { type: "function", name: "get_weather", description: "", parameters: { type: "object" } },
    ],
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Weather?" },
          { type: "input_image", image_url: picture },
        ],
      },
      {
        type: "reasoning",
        id: "r_1",
        summary: [{ type: "summary_text", text: "Hm." }],
        attributes: { type: "reasoning_content" },
        duration: 1,
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "One moment." }],
      },
      { type: "function_call", call_id: "call_1", name: "get_weather", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [{ type: "input_text", text: "wet" }],
      },
    ],
  };
  const response = await server.post("/responses", body, headers);
  expect(response.status).toBe(200);
  let text = "";
  for await (const { data } of readSse(response)) {
    if (data === "[DONE]") continue;
    const event = JSON.parse(data) as Json;
    if (event.type === "response.output_text.delta") text += String(event.delta);
  }
  expect(text).toBe("It is wet.");
  expect(agent.inputs[0]!.context).toMatchObject([{ value: "Be brief." }]);
});
