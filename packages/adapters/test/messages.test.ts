import type { Message } from "@holodeck/agui-core";
import { coerceMessageLikeToMessage } from "@langchain/core/messages";
import { streamText as streamText5 } from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import { jsonSchema, streamText as streamText6 } from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { streamText as streamText7 } from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";
import { describe, expect, test } from "vitest";
import { fromAiSdk, toAiSdkMessages, toAiSdkTools } from "../src/ai-sdk/index.ts";
import { toLangChainMessages } from "../src/langgraph/index.ts";
import { toOpenAIMessages, toResponseInput } from "../src/openai/index.ts";
import { openAIService } from "./openai/_server.ts";

const toolCall = (id: string) => ({
  id,
  type: "function" as const,
  function: { name: "weather", arguments: '{"city":"Bern"}' },
});

const png = { type: "data", value: "AAAA", mimeType: "image/png" } as const;

/** What a thread looks like after a while: media, activities, thoughts, late and missing results. */
const messages: Message[] = [
  { id: "1", role: "system", content: "Be brief." },
  {
    id: "2",
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", source: png },
      { type: "image", source: { type: "url", value: "https://a.example/b.png" } },
      {
        type: "document",
        source: { type: "data", value: "BBBB", mimeType: "application/pdf" },
        metadata: { filename: "b.pdf" },
      },
    ],
  },
  { id: "3", role: "reasoning", content: "Hm." },
  { id: "4", role: "activity", activityType: "search", content: {} },
  { id: "5", role: "assistant", content: "", toolCalls: [toolCall("a"), toolCall("b")] },
  { id: "6", role: "user", content: "Well?" },
  { id: "7", role: "tool", toolCallId: "a", content: "18" },
  { id: "8", role: "tool", toolCallId: "nobody", content: "lost" },
  { id: "9", role: "assistant", content: "It is warm." },
];

describe("a conversation", () => {
  test("becomes messages of the AI SDK that its majors 5 to 7 accept", async () => {
    const told = toAiSdkMessages(messages);
    expect(told).toMatchObject([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "file", data: "data:image/png;base64,AAAA", mediaType: "image/png" },
          { type: "file", data: "https://a.example/b.png", mediaType: "image/*" },
          { type: "file", mediaType: "application/pdf", filename: "b.pdf" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "a", toolName: "weather", input: { city: "Bern" } },
          { type: "tool-call", toolCallId: "b" },
        ],
      },
      { role: "tool", content: [{ toolCallId: "a", output: { value: "18" } }] },
      { role: "tool", content: [{ toolCallId: "b", output: { value: "There is no result." } }] },
      { role: "user", content: "Well?" },
      { role: "assistant", content: [{ type: "text", text: "It is warm." }] },
    ]);
    const supportedUrls = { "image/*": [/^https:/] };
    const asked: string[][] = [];
    const seen: unknown[] = [];
    const doStream = async ({
      prompt,
    }: {
      prompt: readonly { role: string; content: unknown }[];
    }) => {
      asked.push(prompt.map(({ role }) => role));
      seen.push(prompt[1]!.content);
      return { stream: new ReadableStream<never>({ start: (controller) => controller.close() }) };
    };
    // The system's words may be a message of the conversation, if one says so.
    const own = { messages: told.slice(1), system: "Be brief.", onError: () => {} };
    const models = [
      () => streamText5({ model: new MockLanguageModelV2({ supportedUrls, doStream }), ...own }),
      () => streamText6({ model: new MockLanguageModelV3({ supportedUrls, doStream }), ...own }),
      () => streamText7({ model: new MockLanguageModelV4({ supportedUrls, doStream }), ...own }),
    ];
    for (const ask of models) {
      // The model says nothing at all, which is an error to some.
      for await (const event of swallow(fromAiSdk(ask()))) expect(event).toBeUndefined();
    }
    const roles = ["system", "user", "assistant", "tool", "user", "assistant"];
    expect(asked.map((told) => told.filter((role, index) => role !== told[index - 1]))).toEqual([
      roles,
      roles,
      roles,
    ]);
    for (const content of seen) {
      expect(content).toMatchObject([
        { type: "text" },
        { type: "file", mediaType: "image/png" },
        { type: "file", mediaType: expect.stringMatching(/^image/) },
        { type: "file", mediaType: "application/pdf", filename: "b.pdf" },
      ]);
    }
  });

  test("becomes messages of chat completions and input of responses", async () => {
    const service = await openAIService([], []);
    const { client, posted } = service;
    await client.chat.completions.create({
      model: "m",
      messages: toOpenAIMessages(messages),
      stream: true,
    });
    await client.responses.create({ model: "m", input: toResponseInput(messages), stream: true });
    expect(posted[0].messages).toMatchObject([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://a.example/b.png" } },
          { type: "file", file: { filename: "b.pdf" } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "a" }, { id: "b" }] },
      { role: "tool", tool_call_id: "a", content: "18" },
      { role: "tool", tool_call_id: "b", content: "There is no result." },
      { role: "user", content: "Well?" },
      { role: "assistant", content: "It is warm." },
    ]);
    expect(posted[1].input).toMatchObject([
      { role: "system" },
      {
        role: "user",
        content: [
          { type: "input_text" },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          { type: "input_image", image_url: "https://a.example/b.png" },
          { type: "input_file", filename: "b.pdf" },
        ],
      },
      { type: "function_call", call_id: "a" },
      { type: "function_call", call_id: "b" },
      { type: "function_call_output", call_id: "a", output: "18" },
      { type: "function_call_output", call_id: "b" },
      { role: "user", content: "Well?" },
      { role: "assistant", content: "It is warm." },
    ]);
  });

  test("becomes messages of LangChain", () => {
    const told = toLangChainMessages(messages).map((one) => coerceMessageLikeToMessage(one));
    expect(told.map((one) => [one.getType(), one.id])).toEqual([
      ["system", "1"],
      ["human", "2"],
      ["ai", "5"],
      ["tool", "7"],
      ["tool", "b-none"],
      ["human", "6"],
      ["ai", "9"],
    ]);
    expect(told[2]).toMatchObject({
      tool_calls: [{ id: "a", args: { city: "Bern" } }, { id: "b" }],
    });
  });
});

test("gives tools without parameters a schema", () => {
  const tools = [{ name: "now", description: "The time." }];
  const { now } = toAiSdkTools(tools as Parameters<typeof toAiSdkTools>[0], jsonSchema);
  expect(now!.inputSchema.jsonSchema).toEqual({ type: "object", properties: {} });
});

async function* swallow<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* stream;
  } catch {
    return;
  }
}
