import { AgentError } from "@holodeck/agui-core";
import { createOpenAI } from "ai-sdk-openai-4";
import { createOpenAICompatible } from "ai-sdk-openai-compatible-3";
import { tool as toLangChainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { tool as toLlamaIndexTool } from "@llamaindex/core/tools";
import { OpenAI as LlamaIndexOpenAI } from "@llamaindex/openai";
import { generateText, stepCountIs, streamText, tool } from "ai-7";
import OpenAI from "openai-7";
import OpenAI4 from "openai-4";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { forecaster, serveOpenAi, thinker, weatherTool } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";

const apiKey = "sk-test";
const greeting = 'Hello wörld "🌦"\n';
const question = "What is the weather in Oslo?";
const agents = {
  thinker,
  forecaster,
  refusing: async (): Promise<never> => {
    throw new AgentError("acme/quota", "No more today.", { status: 402 });
  },
  async *breaking(): AsyncGenerator<string> {
    yield "Hel";
    throw new Error("postgres://user:password@db");
  },
};

const serveAgents = (): Promise<OpenAiServer> =>
  serveOpenAi(agents, {
    authenticate: ({ headers }) =>
      headers.get("authorization") === `Bearer ${apiKey}` ? { id: "ada" } : null,
  });

// The two majors share what is used here.
describe.for([
  ["newest", OpenAI],
  ["4", OpenAI4 as unknown as typeof OpenAI],
] as const)("openai (%s)", ([, Client]) => {
  const connect = async (key = apiKey): Promise<OpenAI> => {
    const { baseURL } = await serveAgents();
    return new Client({ baseURL, apiKey: key, maxRetries: 0 });
  };
  const messages = [{ role: "user" as const, content: question }];
  const tools = [weatherTool] as unknown as OpenAI.ChatCompletionTool[];

  test("lists the agents as models", async () => {
    const client = await connect();
    const ids = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(Object.keys(agents));
    expect(await client.models.retrieve("thinker")).toMatchObject({ id: "thinker" });
  });

  test("reads a completion and a stream", async () => {
    const client = await connect();
    const body = { model: "thinker", messages };
    const whole = await client.chat.completions.create(body);
    expect(whole.choices[0]!.message.content).toBe(greeting);
    expect(whole.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 5 });
    let text = "";
    for await (const { choices } of await client.chat.completions.create({
      ...body,
      stream: true,
    })) {
      text += choices[0]?.delta.content ?? "";
    }
    expect(text).toBe(greeting);
  });

  test("calls a tool and continues with its result", async () => {
    const client = await connect();
    const first = await client.chat.completions.create({ model: "forecaster", messages, tools });
    const { message, finish_reason: reason } = first.choices[0]!;
    const [call] = message.tool_calls!;
    expect(reason).toBe("tool_calls");
    expect(call).toMatchObject({
      function: { name: "get_weather", arguments: '{"city":"Oslo"}' },
    });
    const second = await client.chat.completions.create({
      model: "forecaster",
      tools,
      messages: [...messages, message, { role: "tool", tool_call_id: call!.id, content: "wet" }],
    });
    expect(second.choices[0]!.message.content).toBe("It is wet.");
  });

  test("throws its own errors, before the first byte and after it", async () => {
    const client = await connect();
    const ask = (model: string): Promise<unknown> =>
      client.chat.completions.create({ model, messages });
    await expect(ask("gpt-9")).rejects.toBeInstanceOf(Client.NotFoundError);
    await expect(ask("gpt-9")).rejects.toMatchObject({ code: "model_not_found" });
    await expect(ask("refusing")).rejects.toMatchObject({ status: 402, code: "acme/quota" });
    const stream = await client.chat.completions.create({
      model: "breaking",
      messages,
      stream: true,
    });
    let text = "";
    const reading = async (): Promise<void> => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    };
    await expect(reading()).rejects.toThrow("The agent failed.");
    expect(text).toBe("Hel");
    const stranger = await connect("sk-wrong");
    await expect(stranger.models.list()).rejects.toBeInstanceOf(Client.AuthenticationError);
  });
});

test("openai: the helper for streams collects text, calls and usage", async () => {
  const { baseURL } = await serveAgents();
  const client = new OpenAI({ baseURL, apiKey });
  const stream = client.chat.completions.stream({
    model: "thinker",
    messages: [{ role: "user", content: "Hi" }],
    stream_options: { include_usage: true },
  });
  const final = await stream.finalChatCompletion();
  expect(final.choices[0]!.message.content).toBe(greeting);
  expect(final.usage).toMatchObject({ total_tokens: 12 });
});

test("openai: the runner for tools makes the calls by itself", async () => {
  const { baseURL } = await serveAgents();
  const client = new OpenAI({ baseURL, apiKey });
  const cities: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: "forecaster",
    stream: true,
    messages: [{ role: "user", content: question }],
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "The weather.",
          parameters: { type: "object", properties: { city: { type: "string" } } },
          parse: JSON.parse,
          function: (args: { city: string }) => {
            cities.push(args.city);
            return "wet";
          },
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe("It is wet.");
  expect(cities).toEqual(["Oslo"]);
});

describe.for(["@ai-sdk/openai", "@ai-sdk/openai-compatible"])("%s", (name) => {
  const connect = async () => {
    const { baseURL } = await serveAgents();
    return name === "@ai-sdk/openai"
      ? createOpenAI({ baseURL, apiKey }).chat
      : createOpenAICompatible({ name: "agents", baseURL, apiKey, includeUsage: true });
  };

  test("reads a completion and a stream", async () => {
    const model = (await connect())("thinker");
    const whole = await generateText({ model, prompt: "Hi" });
    expect(whole.text).toBe(greeting);
    expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 5 });
    const stream = streamText({ model, prompt: "Hi" });
    expect(await stream.text).toBe(greeting);
    if (name !== "@ai-sdk/openai") {
      expect(whole.reasoningText).toBe("Hm, a greeting.");
      expect(await stream.reasoningText).toBe("Hm, a greeting.");
    }
    expect(await stream.usage).toMatchObject({ inputTokens: 7, outputTokens: 5 });
  });

  test.for(["generate", "stream"])(
    "calls a tool and continues with its result: %s",
    async (how) => {
      const model = (await connect())("forecaster");
      const get_weather = tool({
        description: "The weather.",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => `wet in ${city}`,
      });
      const options = {
        model,
        prompt: question,
        tools: { get_weather },
        stopWhen: stepCountIs(3),
      };
      const { text } = how === "stream" ? streamText(options) : await generateText(options);
      expect(await text).toBe("It is wet in Oslo.");
    },
  );

  test("reports an error in mid-answer", async () => {
    const model = (await connect())("breaking");
    const errors: unknown[] = [];
    const stream = streamText({
      model,
      prompt: "Hi",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await stream.consumeStream();
    expect(JSON.stringify(errors.map(String)) + JSON.stringify(errors)).toContain(
      "The agent failed.",
    );
  });
});

describe("LangChain's ChatOpenAI", () => {
  const connect = async (model: string): Promise<ChatOpenAI> => {
    const { baseURL } = await serveAgents();
    return new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
  };

  test("reads a completion and a stream", async () => {
    const model = await connect("thinker");
    const answer = await model.invoke("Hi");
    expect(answer.text).toBe(greeting);
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 5 });
    let text = "";
    for await (const chunk of await model.stream("Hi")) text += chunk.text;
    expect(text).toBe(greeting);
  });

  test("calls a tool and continues with its result", async () => {
    const weather = toLangChainTool(({ city }) => `wet in ${city}`, {
      name: "get_weather",
      description: "The weather.",
      schema: z.object({ city: z.string() }),
    });
    const model = (await connect("forecaster")).bindTools([weather]);
    const first = await model.invoke(question);
    expect(first.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Oslo" } }]);
    const result = await weather.invoke(first.tool_calls![0]!);
    const second = await model.invoke([["human", question], first, result]);
    expect(second.text).toBe("It is wet in Oslo.");
  });

  test("throws the error of the server", async () => {
    await expect((await connect("gpt-9")).invoke("Hi")).rejects.toMatchObject({ status: 404 });
  });
});

describe("LlamaIndex's OpenAI", () => {
  const connect = async (model: string): Promise<LlamaIndexOpenAI> => {
    const { baseURL } = await serveAgents();
    return new LlamaIndexOpenAI({ model, apiKey, baseURL, maxRetries: 0 });
  };
  const messages = [{ role: "user" as const, content: question }];

  test("reads a completion and a stream", async () => {
    const model = await connect("thinker");
    expect((await model.chat({ messages })).message.content).toBe(greeting);
    let text = "";
    for await (const { delta } of await model.chat({ messages, stream: true })) text += delta;
    expect(text).toBe(greeting);
  });

  test("calls a tool and continues with its result", async () => {
    const weather = toLlamaIndexTool({
      name: "get_weather",
      description: "The weather.",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => `wet in ${city}`,
    });
    const model = await connect("forecaster");
    const { message } = await model.chat({ messages, tools: [weather] });
    expect(message.options).toMatchObject({
      toolCall: [{ name: "get_weather", input: '{"city":"Oslo"}' }],
    });
    const [call] = (message.options as { toolCall: { id: string }[] }).toolCall;
    const result = { result: "wet", isError: false, id: call!.id };
    const answer = await model.chat({
      messages: [
        ...messages,
        message,
        { role: "user", content: "wet", options: { toolResult: result } },
      ],
      tools: [weather],
    });
    expect(answer.message.content).toBe("It is wet.");
  });
});
