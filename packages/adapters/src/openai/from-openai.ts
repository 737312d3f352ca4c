import { asText, isRecord } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { AgentFunction, BaseEvent, Json } from "@holodeck/agui-core";
import { assertStream, toAgentFunction } from "../_source.ts";
import type { AdapterContext, Ask } from "../_source.ts";
import { createTurn } from "../_turn.ts";
import { readChat } from "./read-chat.ts";
import { readResponse } from "./read-response.ts";

/** A stream of chat completions or of responses. */
export type OpenAISource = AsyncIterable<object>;

/**
 * The output of an OpenAI or OpenAI-compatible model as an agent: text, reasoning, tool calls, sources,
 * images, tokens. Accepts streams of chat completions and of responses. Given a function, it returns an
 * agent; given a stream, it returns what an agent yields, and the `context` allows it to report tokens.
 *
 * @example
 * ```ts
 * const agent = fromOpenAI(({ messages }, { signal }) =>
 *   openai.chat.completions.create(
 *     { model, messages: toOpenAIMessages(messages), stream: true },
 *     { signal },
 *   ),
 * );
 * ```
 */
export function fromOpenAI(
  source: OpenAISource,
  context?: AdapterContext,
): AsyncGenerator<BaseEvent, void>;
export function fromOpenAI(ask: Ask<OpenAISource>): AgentFunction;
export function fromOpenAI(
  source: OpenAISource | Ask<OpenAISource>,
  context?: AdapterContext,
): AgentFunction | AsyncGenerator<BaseEvent, void> {
  if (typeof source === "function") return toAgentFunction<OpenAISource>(source, fromOpenAI);
  assertStream("fromOpenAI", source, "what create({ stream: true }) resolves to");
  return translate(source, context);
}

async function* translate(
  stream: OpenAISource,
  context: AdapterContext | undefined,
): AsyncGenerator<BaseEvent, void> {
  const turn = createTurn();
  const chat = readChat(turn);
  const response = readResponse(turn);
  for await (const chunk of stream) {
    if (!isRecord(chunk)) continue;
    assertNoError(chunk);
    yield* "choices" in chunk ? chat.read(chunk) : response.read(chunk);
  }
  yield* turn.endStep();
  for (const usage of [chat.usage(), response.usage()]) {
    if (usage) context?.emit.usage(usage);
  }
  if (chat.isEnded() || response.isEnded()) return;
  // OpenAI's client ends a stream in silence when it is aborted or cut. Half a call must not run.
  throw new AgentError("incomplete-stream", "The model's answer was cut.");
}

function assertNoError(chunk: Json): void {
  const { type, error, response } = chunk;
  const failed = type === "response.failed" && isRecord(response) ? (response.error ?? {}) : error;
  if (type !== "error" && !failed) return;
  const { message, code } = isRecord(failed) ? failed : chunk;
  // The service's message is for the log; clients of the run do not receive it.
  throw new Error(`The model failed: ${asText(message) ?? asText(code) ?? "no reason given"}`);
}
