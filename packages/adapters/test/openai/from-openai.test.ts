import { createToolLoopAgent, defineTool } from "@holodeck/agui-tools";
import { runAgent } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  fromOpenAI,
  toOpenAIMessages,
  toOpenAITools,
  toResponseInput,
  toResponseTools,
} from "../../src/openai/index.ts";
import { completed, delta, openAIService, spent } from "./_server.ts";
import type { Service } from "./_server.ts";

const model = "gpt-test";
const usage = {
  model,
  inputTokens: 3,
  outputTokens: 5,
  totalTokens: 8,
  reasoningTokens: 2,
  cachedInputTokens: 1,
};

const weather = defineTool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 18 }),
});

const chatAgent = ({ client }: Service) =>
  fromOpenAI(({ messages, tools }, { signal }) =>
    client.chat.completions.create(
      {
        model,
        messages: toOpenAIMessages(messages),
        ...(tools.length === 0 ? {} : { tools: toOpenAITools(tools) }),
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal },
    ),
  );

const responseAgent = ({ client }: Service) =>
  fromOpenAI(({ messages, tools }, { signal }) =>
    client.responses.create(
      { model, input: toResponseInput(messages), tools: toResponseTools(tools), stream: true },
      { signal },
    ),
  );

describe("fromOpenAI with chat completions", () => {
  test("sends the text and the tokens", async () => {
    const service = await openAIService([
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hello " }),
      delta({ content: "world" }),
      delta({}, "stop"),
      spent,
    ]);
    const sink = await runAgent(chatAgent(service), { message: "hi" });
    expect(sink.error).toBeUndefined();
    expect(sink.events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(sink.text).toBe("Hello world");
    expect(sink.events.at(-1)!.usage).toEqual([usage]);
    expect(service.posted[0].messages).toEqual([{ role: "user", content: "hi" }]);
  });

  test("shows reasoning under the names that other services give it", async () => {
    const service = await openAIService(
      [delta({ reasoning_content: "Hm." }), delta({ content: "Yes." }), delta({}, "stop")],
      [delta({ reasoning: "Hm." }), delta({ content: "Yes." }), delta({}, "stop")],
    );
    for (const _ of [1, 2]) {
      const sink = await runAgent(chatAgent(service));
      expect(sink.error).toBeUndefined();
      expect(sink.messages).toMatchObject([
        { role: "reasoning", content: "Hm." },
        { role: "assistant", content: "Yes." },
      ]);
    }
  });

  test("runs tools in the loop, parallel calls included", async () => {
    const piece = (index: number, args: string, start: object = {}): object =>
      delta({ tool_calls: [{ index, ...start, function: { ...nameOf(start), arguments: args } }] });
    const nameOf = (start: object): object => ("id" in start ? { name: "weather" } : {});
    const service = await openAIService(
      [
        delta({ content: "Let me look." }),
        piece(0, "", { id: "a", type: "function" }),
        piece(0, '{"city":'),
        piece(0, '"Bern"}'),
        piece(1, '{"city":"Rome"}', { id: "b", type: "function" }),
        delta({}, "tool_calls"),
        spent,
      ],
      [delta({ content: "18 degrees in both." }), delta({}, "stop"), spent],
    );
    const agent = createToolLoopAgent({ generate: chatAgent(service), tools: [weather] });
    const sink = await runAgent(agent, { message: "Weather?" });
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("Let me look.18 degrees in both.");
    expect(sink.events.at(-1)!.usage).toMatchObject([{ inputTokens: 6, outputTokens: 10 }]);
    expect(service.posted[0].tools).toMatchObject([
      { type: "function", function: { name: "weather", parameters: { required: ["city"] } } },
    ]);
    expect(service.posted[1].messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          { id: "a", function: { name: "weather", arguments: '{"city":"Bern"}' } },
          { id: "b", function: { arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: '{"city":"Bern","celsius":18}' },
      { role: "tool", tool_call_id: "b", content: '{"city":"Rome","celsius":18}' },
    ]);
  });

  test("separates calls that a service numbers alike, and names those without an id", async () => {
    const whole = (id: string | undefined, args: string): object => ({
      index: 0,
      ...(id === undefined ? {} : { id }),
      function: { name: "weather", arguments: args },
    });
    const service = await openAIService(
      [delta({ tool_calls: [whole("a", "{}"), whole("b", "{}")] }), delta({}, "tool_calls")],
      [delta({ tool_calls: [whole(undefined, "{}")] }), delta({}, "tool_calls")],
    );
    const first = await runAgent(chatAgent(service));
    expect(first.error).toBeUndefined();
    expect(first.messages).toMatchObject([{ toolCalls: [{ id: "a" }, { id: "b" }] }]);
    const second = await runAgent(chatAgent(service));
    expect(second.error).toBeUndefined();
    expect(second.messages).toMatchObject([{ toolCalls: [{ id: expect.stringMatching(/./) }] }]);
  });

  test("hands on the pages an answer cites", async () => {
    const url_citation = { url: "https://a.example", title: "A", start_index: 0, end_index: 1 };
    const service = await openAIService([
      delta({ content: "See A.", annotations: [{ type: "url_citation", url_citation }] }),
      delta({}, "stop"),
    ]);
    const sink = await runAgent(chatAgent(service));
    expect(sink.error).toBeUndefined();
    expect(sink.events).toContainEqual(
      expect.objectContaining({
        type: "CUSTOM",
        name: "source-url",
        value: { url: "https://a.example", title: "A" },
      }),
    );
  });

  test("fails when the service does, without the cause", async () => {
    const service = await openAIService([
      delta({ content: "He" }),
      { error: { message: "key sk-1234 is wrong" } },
    ]);
    const sink = await runAgent(chatAgent(service));
    expect(sink.error).toMatchObject({ code: "agent-error" });
    expect(JSON.stringify(sink.events)).not.toContain("sk-1234");
  });

  test("fails when the answer is cut, so that half a call does not run", async () => {
    const ran: unknown[] = [];
    const remove = defineTool({
      name: "remove",
      description: "Removes a thing.",
      execute: (args) => ran.push(args),
    });
    const start = { index: 0, id: "a", function: { name: "remove", arguments: "{}" } };
    const service = await openAIService([delta({ tool_calls: [start] }), "cut"]);
    const agent = createToolLoopAgent({ generate: chatAgent(service), tools: [remove] });
    const sink = await runAgent(agent);
    expect(sink.error).toMatchObject({ code: "incomplete-stream" });
    expect(ran).toEqual([]);
  });

  test("leaves the service when the run is stopped", async () => {
    const service = await openAIService([delta({ content: "He" }), "hang"]);
    const stop = new AbortController();
    const agent = chatAgent(service);
    const sink = await runAgent(
      async function* (input, context) {
        for await (const event of agent(input, context) as AsyncIterable<never>) {
          yield event;
          if ((event as { type: string }).type === "TEXT_MESSAGE_CONTENT") stop.abort();
        }
      },
      { signal: stop.signal },
    );
    expect(sink.events.at(-1)).toMatchObject({ outcome: { type: "cancelled" } });
    await service.left;
  });
});

describe("fromOpenAI with responses", () => {
  test("sends text, reasoning, citations, images and the tokens", async () => {
    const at = { item_id: "m", output_index: 1, content_index: 0 };
    const service = await openAIService([
      { type: "response.created", response: { id: "r", status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "t" } },
      {
        type: "response.reasoning_summary_text.delta",
        item_id: "t",
        output_index: 0,
        summary_index: 0,
        delta: "Hm.",
      },
      {
        type: "response.reasoning_summary_text.done",
        item_id: "t",
        output_index: 0,
        summary_index: 0,
        text: "Hm.",
      },
      { type: "response.output_text.delta", ...at, delta: "Hello " },
      { type: "response.output_text.delta", ...at, delta: "world" },
      {
        type: "response.output_text.annotation.added",
        ...at,
        annotation: { type: "url_citation", url: "https://a.example", title: "A" },
      },
      { type: "response.output_text.done", ...at, text: "Hello world" },
      {
        type: "response.output_item.done",
        output_index: 2,
        item: { type: "image_generation_call", id: "i", result: "AAAA", output_format: "webp" },
      },
      completed,
    ]);
    const sink = await runAgent(responseAgent(service), { message: "hi" });
    expect(sink.error).toBeUndefined();
    expect(sink.messages).toMatchObject([
      { role: "user" },
      { role: "reasoning", content: "Hm." },
      { role: "assistant", content: "Hello world" },
    ]);
    expect(sink.events.filter(({ type }) => type === "CUSTOM")).toMatchObject([
      { name: "source-url", value: { url: "https://a.example", title: "A" } },
      { name: "file", value: { url: "data:image/webp;base64,AAAA", mediaType: "image/webp" } },
    ]);
    expect(sink.events.at(-1)!.usage).toEqual([usage]);
    expect(service.posted[0].input).toEqual([{ role: "user", content: "hi" }]);
  });

  test("runs tools in the loop", async () => {
    const item = { type: "function_call", id: "f", call_id: "a", name: "weather" };
    const at = { item_id: "f", output_index: 0 };
    const args = '{"city":"Bern"}';
    const text = { item_id: "m", output_index: 0, content_index: 0 };
    const service = await openAIService(
      [
        { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
        { type: "response.function_call_arguments.delta", ...at, delta: '{"city":' },
        { type: "response.function_call_arguments.delta", ...at, delta: '"Bern"}' },
        { type: "response.function_call_arguments.done", ...at, arguments: args },
        { type: "response.output_item.done", output_index: 0, item: { ...item, arguments: args } },
        completed,
      ],
      [{ type: "response.output_text.delta", ...text, delta: "18 degrees." }, completed],
    );
    const agent = createToolLoopAgent({ generate: responseAgent(service), tools: [weather] });
    const sink = await runAgent(agent, { message: "Weather?" });
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("18 degrees.");
    expect(service.posted[0].tools).toMatchObject([{ type: "function", name: "weather" }]);
    expect(service.posted[1].input).toEqual([
      { role: "user", content: "Weather?" },
      { type: "function_call", call_id: "a", name: "weather", arguments: args },
      { type: "function_call_output", call_id: "a", output: '{"city":"Bern","celsius":18}' },
    ]);
  });

  test.for([
    { type: "response.failed", response: { error: { code: "x", message: "key sk-1234" } } },
    { type: "error", message: "key sk-1234", code: "x" },
  ])("fails on $type, without the cause", async (event) => {
    const service = await openAIService([event]);
    const sink = await runAgent(responseAgent(service));
    expect(sink.error).toMatchObject({ code: "agent-error" });
    expect(JSON.stringify(sink.events)).not.toContain("sk-1234");
  });
});

test("names what it takes when it gets something else", () => {
  expect(() => fromOpenAI(Promise.resolve() as never)).toThrow(
    "fromOpenAI takes what create({ stream: true }) resolves to, not a promise.",
  );
});
