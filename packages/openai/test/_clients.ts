import { createOpenResponses } from "@ai-sdk/open-responses";
import { ChatOpenAI } from "@langchain/openai";
import { OpenAI as LlamaIndexOpenAI } from "@llamaindex/openai";
import { Agent, Runner } from "@openai/agents-core";
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from "@openai/agents-openai";
import { streamText } from "ai-7";
import { createOpenAI } from "ai-sdk-openai-4";
import { createOpenAICompatible } from "ai-sdk-openai-compatible-3";
import OpenAI from "openai-7";
import OpenAI4 from "openai-4";

/** A question to a model, as a client of others asks it. */
interface Asking {
  readonly baseURL: string;
  readonly model: string;
  /** Stops the answer, in the way of the client. */
  readonly signal?: AbortSignal;
}

/** A client of others: the pieces of a streamed answer, or its error. */
export interface StreamingClient {
  readonly name: string;
  /** Set when it throws an error without the words of the server, or takes a failed response for a whole one. */
  readonly failures?: "wordless" | "hidden";
  stream(asking: Asking): AsyncIterable<string>;
}

const apiKey = "sk-test";
const messages = [{ role: "user" as const, content: "Hi" }];

const sdk = (Client: typeof OpenAI, { baseURL }: Asking): OpenAI =>
  new Client({ baseURL, apiKey, maxRetries: 0 });

/** What AI SDK's `streamText` shows of a model. */
async function* textOf(
  model: Parameters<typeof streamText>[0]["model"],
  { signal }: Asking,
): AsyncGenerator<string> {
  const options = { model, prompt: "Hi", maxRetries: 0, ...(signal && { abortSignal: signal }) };
  const { fullStream } = streamText({ ...options, onError: () => {} });
  for await (const part of fullStream) {
    if (part.type === "text-delta") yield part.text;
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw new DOMException("Stopped.", "AbortError");
  }
}

async function* withAgents(
  model: OpenAIChatCompletionsModel | OpenAIResponsesModel,
  { signal }: Asking,
): AsyncGenerator<string> {
  const runner = new Runner({ tracingDisabled: true });
  const options = { stream: true as const, ...(signal && { signal }) };
  const result = await runner.run(new Agent({ name: "Asking", model }), "Hi", options);
  for await (const text of result.toTextStream()) yield text;
  await result.completed;
}

function langChain({ baseURL, model }: Asking, useResponsesApi: boolean): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey,
    configuration: { baseURL },
    maxRetries: 0,
    useResponsesApi,
  });
}

async function* chunksOf(model: ChatOpenAI, { signal }: Asking): AsyncGenerator<string> {
  for await (const { text } of await model.stream("Hi", { ...(signal && { signal }) })) yield text;
}

/** Every client of the API that is tested here, with chat completions and with Responses. */
export const clients: readonly StreamingClient[] = [
  ...(
    [
      ["openai 7", OpenAI],
      ["openai 4", OpenAI4 as unknown as typeof OpenAI],
    ] as const
  ).flatMap(([name, Client]): StreamingClient[] => [
    {
      name: `${name}, chat completions`,
      async *stream(asking) {
        const { model, signal } = asking;
        const body = { model, messages, stream: true as const };
        const stream = await sdk(Client, asking).chat.completions.create(body, { signal });
        for await (const { choices } of stream) yield choices[0]?.delta.content ?? "";
      },
    },
    {
      name: `${name}, Responses`,
      async *stream(asking) {
        const { model, signal } = asking;
        const body = { model, input: "Hi", stream: true as const };
        const stream = await sdk(Client, asking).responses.create(body, { signal });
        let isOver = false;
        for await (const event of stream) {
          if (event.type === "response.output_text.delta") yield event.delta;
          if (event.type === "response.failed") throw new Error(event.response.error?.message);
          isOver ||= event.type === "response.completed";
        }
        if (!isOver) throw new Error("The stream has no end.");
      },
    },
  ]),
  {
    name: "@ai-sdk/openai, chat",
    stream: (asking) =>
      textOf(createOpenAI({ baseURL: asking.baseURL, apiKey }).chat(asking.model), asking),
  },
  {
    name: "@ai-sdk/openai, responses",
    stream: (asking) =>
      textOf(createOpenAI({ baseURL: asking.baseURL, apiKey }).responses(asking.model), asking),
  },
  {
    name: "@ai-sdk/openai-compatible",
    stream: (asking) => {
      const { baseURL, model } = asking;
      return textOf(createOpenAICompatible({ name: "agents", baseURL, apiKey })(model), asking);
    },
  },
  {
    name: "@ai-sdk/open-responses",
    stream: (asking) => {
      const url = `${asking.baseURL}/responses`;
      return textOf(createOpenResponses({ name: "agents", url, apiKey })(asking.model), asking);
    },
  },
  {
    name: "LangChain's ChatOpenAI, chat completions",
    stream: (asking) => chunksOf(langChain(asking, false), asking),
  },
  {
    name: "LangChain's ChatOpenAI, Responses",
    failures: "hidden",
    stream: (asking) => chunksOf(langChain(asking, true), asking),
  },
  {
    name: "@openai/agents-core, chat completions",
    stream: (asking) =>
      withAgents(new OpenAIChatCompletionsModel(sdk(OpenAI, asking), asking.model), asking),
  },
  {
    name: "@openai/agents-core, Responses",
    failures: "wordless",
    stream: (asking) =>
      withAgents(new OpenAIResponsesModel(sdk(OpenAI, asking), asking.model), asking),
  },
  {
    name: "LlamaIndex's OpenAI",
    async *stream({ baseURL, model, signal }) {
      const additionalSessionOptions = {
        fetch: (url: RequestInfo | URL, init?: RequestInit) =>
          fetch(url, { ...init, signal: joined(init?.signal, signal) }),
      };
      const options = { model, apiKey, baseURL, maxRetries: 0, additionalSessionOptions };
      const llm = new LlamaIndexOpenAI(options);
      for await (const { delta } of await llm.chat({ messages, stream: true })) yield delta;
    },
  },
];

// LlamaIndex has no way to stop an answer but through its fetch.
function joined(...signals: readonly (AbortSignal | null | undefined)[]): AbortSignal | null {
  const given = signals.filter((signal) => signal !== null && signal !== undefined);
  return given.length === 0 ? null : AbortSignal.any(given);
}
