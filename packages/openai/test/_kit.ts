import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, AgentLike, Json, RunAgentInput } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { readSse } from "@holodeck/agui-testing";
import { onTestFinished } from "vitest";
import { openai } from "../src/index.ts";
import type { OpenAiOptions } from "../src/index.ts";

type Setup = Omit<AgentHandlerOptions, "protocols"> & { openai?: OpenAiOptions };

export interface OpenAiServer extends Serving {
  readonly handler: AgentHandler;
  /** What clients are configured with. */
  readonly baseURL: string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

/** The protocol on a port of the loopback, closed when the test is over. */
export async function serveOpenAi(
  agent: AgentLike | Record<string, AgentLike>,
  { openai: options, ...setup }: Setup = {},
): Promise<OpenAiServer> {
  const handler = createAgentHandler(agent as AgentLike, {
    logger: silentLogger,
    ...setup,
    protocols: [openai(options)],
  });
  const server = await serve(handler, { port: 0, logger: silentLogger });
  onTestFinished(() => server.close());
  const baseURL = `${server.url}/v1`;
  return Object.assign(server, {
    handler,
    baseURL,
    post: (path: string, body: unknown, headers?: Record<string, string>) =>
      fetch(baseURL + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path: string, headers: Record<string, string> = {}) => fetch(baseURL + path, { headers }),
  });
}

/** An agent that keeps what it was called with. */
export function recordingAgent(answer: AgentFunction): AgentFunction & { inputs: RunAgentInput[] } {
  const inputs: RunAgentInput[] = [];
  const agent: AgentFunction = (input, context) => {
    inputs.push(input);
    return answer(input, context);
  };
  return Object.assign(agent, { inputs });
}

/** The JSON of each frame, up to `[DONE]`. */
export async function chunksOf(response: Response): Promise<Json[]> {
  const chunks: Json[] = [];
  for await (const { data } of readSse(response)) {
    if (data !== "[DONE]") chunks.push(JSON.parse(data) as Json);
  }
  return chunks;
}

/** A question of a user. */
export function user(content: unknown): Json {
  return { role: "user", content };
}

const weatherParameters: Json = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
};

export const weatherTool: Json = {
  type: "function",
  function: { name: "get_weather", description: "The weather.", parameters: weatherParameters },
};

/** Answers in several pieces, with reasoning before them and usage at the end. */
export const thinker: AgentFunction = async function* (_, { emit }) {
  await emit.reasoning("Hm, ");
  await emit.reasoning("a greeting.");
  yield "Hello ";
  yield "wörld";
  yield ' "🌦"\n';
  emit.usage({ inputTokens: 7, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 });
};

/** Calls the client's `get_weather` for the city that the user named, and reports its result. */
export const forecaster: AgentFunction = async function* ({ messages, tools }, { emit }) {
  const last = messages.at(-1);
  if (last?.role === "tool") {
    yield `It is ${last.content as string}.`;
    return;
  }
  const offered = tools.find(({ name }) => name === "get_weather");
  if (!offered) {
    yield "I cannot look.";
    return;
  }
  const text = last?.role === "user" && typeof last.content === "string" ? last.content : "";
  const city = /in (\w+)/.exec(text)?.[1] ?? "Bern";
  emit.toolCall("get_weather", { city });
};
