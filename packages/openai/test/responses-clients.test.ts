import { createOpenResponses } from "@ai-sdk/open-responses";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, Runner, tool as toAgentsTool } from "@openai/agents-core";
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from "@openai/agents-openai";
import { generateText, stepCountIs, streamText, tool } from "ai-7";
import { createOpenAI } from "ai-sdk-openai-4";
import OpenAI from "openai-7";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { forecaster, serveOpenAi, thinker } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";

const apiKey = "sk-test";
const greeting = 'Hello wörld "🌦"\n';
const question = "What is the weather in Oslo?";
const agents = {
  thinker,
  forecaster,
  async *breaking(): AsyncGenerator<string> {
    yield "Hel";
    throw new Error("postgres://user:password@db");
  },
  async *counter({ messages }: { messages: readonly unknown[] }): AsyncGenerator<string> {
    yield `${messages.length} messages`;
  },
};

const serveAgents = (): Promise<OpenAiServer> => serveOpenAi(agents);
const get_weather = tool({
  description: "The weather.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `wet in ${city}`,
});

describe("openai", () => {
  const connect = async (): Promise<OpenAI> =>
    new OpenAI({ baseURL: (await serveAgents()).baseURL, apiKey, maxRetries: 0 });

  test("reads a response, its stream and what is stored of it", async () => {
    const client = await connect();
    const body = { model: "thinker", input: "Hi" };
    const whole = await client.responses.create(body);
    expect(whole.output_text).toBe(greeting);
    expect((await client.responses.retrieve(whole.id)).output_text).toBe(greeting);
    const items = [];
    for await (const item of client.responses.inputItems.list(whole.id)) items.push(item);
    expect(items).toHaveLength(1);
    const stream = client.responses.stream(body);
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => (text += delta));
    expect((await stream.finalResponse()).output_text).toBe(greeting);
    expect(text).toBe(greeting);
  });

  test("continues by previous_response_id, with the output of a function", async () => {
    const client = await connect();
    const tools = [
      {
        type: "function" as const,
        name: "get_weather",
        description: "The weather.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
        strict: false,
      },
    ];
    const first = await client.responses.create({ model: "forecaster", input: question, tools });
    const call = first.output.find(({ type }) => type === "function_call");
    expect(call).toMatchObject({ name: "get_weather", arguments: '{"city":"Oslo"}' });
    const second = await client.responses.create({
      model: "forecaster",
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: (call as any).call_id, output: "wet" }],
    });
    expect(second.output_text).toBe("It is wet.");
  });

  test("starts in the background, and streams what it has not seen", async () => {
    const client = await connect();
    const started = await client.responses.create({
      model: "thinker",
      input: "Hi",
      background: true,
    });
    expect(started.status).toBe("in_progress");
    const numbers: number[] = [];
    let final: { output_text?: string; status?: string } = {};
    const stream = await client.responses.retrieve(started.id, {
      stream: true,
      starting_after: 3,
    });
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if (event.type === "response.completed") final = event.response;
    }
    expect(numbers[0]).toBe(4);
    expect(final.status).toBe("completed");
    expect((await client.responses.retrieve(started.id)).output_text).toBe(greeting);
  });

  test("throws its own errors", async () => {
    const client = await connect();
    await expect(client.responses.retrieve("resp_unknown")).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    const stream = await client.responses.create({ model: "breaking", input: "Hi", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { error: { message: "The agent failed." } },
    });
  });
});

describe.for(["@ai-sdk/openai", "@ai-sdk/open-responses"])("%s", (name) => {
  const connect = async () => {
    const { baseURL } = await serveAgents();
    return name === "@ai-sdk/openai"
      ? createOpenAI({ baseURL, apiKey }).responses
      : createOpenResponses({ name: "agents", url: `${baseURL}/responses`, apiKey });
  };

  test("reads a response and its stream", async () => {
    const model = (await connect())("thinker");
    const whole = await generateText({ model, prompt: "Hi" });
    expect(whole.text).toBe(greeting);
    expect(whole.reasoningText).toBe("Hm, a greeting.");
    expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 5 });
    const stream = streamText({ model, prompt: "Hi" });
    expect(await stream.text).toBe(greeting);
    expect(await stream.reasoningText).toBe("Hm, a greeting.");
  });

  test.for(["generate", "stream"])(
    "calls a tool and continues with its result: %s",
    async (how) => {
      const options = {
        model: (await connect())("forecaster"),
        prompt: question,
        tools: { get_weather },
        stopWhen: stepCountIs(3),
      };
      const { text } = how === "stream" ? streamText(options) : await generateText(options);
      expect(await text).toBe("It is wet in Oslo.");
    },
  );

  test("sends its earlier answers with the next request", async () => {
    const model = (await connect())("counter");
    const first = await generateText({ model, prompt: "One" });
    const next = await generateText({
      model,
      messages: [
        { role: "user", content: "One" },
        ...first.response.messages,
        { role: "user", content: "Two" },
      ],
    });
    expect(next.text).toBe("3 messages");
  });
});

describe.for(["responses", "chat completions"])("@openai/agents-core over %s", (api) => {
  const connect = async (model: string) => {
    const client = new OpenAI({ baseURL: (await serveAgents()).baseURL, apiKey }) as never;
    return api === "responses"
      ? new OpenAIResponsesModel(client, model)
      : new OpenAIChatCompletionsModel(client, model);
  };
  const runner = new Runner({ tracingDisabled: true });

  test("answers, and calls the tools of an agent", async () => {
    const weather = toAgentsTool({
      name: "get_weather",
      description: "The weather.",
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => `wet in ${city}`,
    });
    const agent = new Agent({
      name: "Forecaster",
      instructions: "Answer.",
      model: await connect("forecaster"),
      tools: [weather],
    });
    expect((await runner.run(agent, question)).finalOutput).toBe("It is wet in Oslo.");
    const streamed = await runner.run(agent, question, { stream: true });
    let text = "";
    for await (const part of streamed.toTextStream()) text += part;
    await streamed.completed;
    expect(text).toBe("It is wet in Oslo.");
  });
});

test("LangChain's ChatOpenAI reads responses", async () => {
  const { baseURL } = await serveAgents();
  const model = new ChatOpenAI({
    model: "thinker",
    apiKey,
    configuration: { baseURL },
    useResponsesApi: true,
    maxRetries: 0,
  });
  const answer = await model.invoke([new HumanMessage("Hi")]);
  expect(answer.text).toBe(greeting);
  let text = "";
  for await (const chunk of await model.stream("Hi")) text += chunk.text;
  expect(text).toBe(greeting);
});
