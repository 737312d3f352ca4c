import { AgentError, isAgentError } from "@holodeck/agui-core";
import { asText, assertOptions, isRecord } from "@holodeck/agui-core/internal";
import type { AgentFunction, BaseEvent, Json } from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";
import { assertStream, toAgentFunction } from "../_source.ts";
import type { AdapterContext, Ask } from "../_source.ts";
import { createTurn } from "../_turn.ts";
import type { Turn } from "../_turn.ts";
import { toUsage } from "../_usage.ts";
import { createRefusals } from "./refusals.ts";
import type { Refusals } from "./refusals.ts";

/** A part of `fullStream`, of AI SDK 5, 6 or 7. */
export interface AiSdkPart {
  readonly type: string;
}

/** What `streamText` returns, or its `fullStream`. */
export type AiSdkSource =
  | AsyncIterable<AiSdkPart>
  | { readonly fullStream: AsyncIterable<AiSdkPart> };

export interface FromAiSdkOptions {
  /**
   * The tools that `streamText` is given. Of those with an `execute` no result is taken from a client, on a new
   * thread neither.
   */
  readonly tools?: Readonly<Record<string, unknown>>;
}

const known = ["tools"];

/**
 * The output of the AI SDK's `streamText` as an agent: text, reasoning, tools, files, sources, tokens.
 * Given a function, it returns an agent; given a stream, it returns what an agent yields, and the
 * `context` allows it to report tokens and approvals.
 *
 * @example
 * ```ts
 * const agent = fromAiSdk(({ messages }, { signal }) =>
 *   streamText({ model, messages: toAiSdkMessages(messages), abortSignal: signal }),
 * );
 * ```
 */
export function fromAiSdk(
  source: AiSdkSource,
  context?: AdapterContext,
): AsyncGenerator<BaseEvent, void>;
export function fromAiSdk(ask: Ask<AiSdkSource>, options?: FromAiSdkOptions): AgentFunction;
export function fromAiSdk(
  source: AiSdkSource | Ask<AiSdkSource>,
  second?: AdapterContext | FromAiSdkOptions,
): AgentFunction | AsyncGenerator<BaseEvent, void> {
  if (typeof source === "function") return toAgent(source, second as FromAiSdkOptions | undefined);
  const context = second as AdapterContext | undefined;
  // Each look at it makes one more branch of the stream.
  const stream: unknown = isRecord(source) && "fullStream" in source ? source.fullStream : source;
  assertStream("fromAiSdk", stream, "the result of streamText or its fullStream");
  return translate(stream as AsyncIterable<AiSdkPart>, context);
}

function toAgent(ask: Ask<AiSdkSource>, options: FromAiSdkOptions = {}): AgentFunction {
  assertOptions("fromAiSdk", options, known);
  const { tools = {} } = options;
  const serverTools = Object.keys(tools).filter(
    (name) => typeof toRecord(tools[name]).execute === "function",
  );
  return Object.assign(toAgentFunction<AiSdkSource>(ask, fromAiSdk), { serverTools });
}

async function* translate(
  stream: AsyncIterable<AiSdkPart>,
  context: AdapterContext | undefined,
): AsyncGenerator<BaseEvent, void> {
  const turn = createTurn();
  const refusals = createRefusals(turn);
  const read = createReader(turn, refusals, context);
  for await (const part of stream) {
    if (part.type === "error") throw toThrown((part as { error?: unknown }).error);
    if (part.type === "abort") {
      yield* turn.endStep();
      // When the run itself was stopped, this error is not observed; otherwise the author's own
      // signal was aborted.
      throw new AgentError("stopped", "The model was stopped.");
    }
    yield* read(part as AiSdkPart & Json);
  }
  yield* turn.endStep();
  yield* refusals.takeEvents();
}

function createReader(
  turn: Turn,
  refusals: Refusals,
  context: AdapterContext | undefined,
): (part: AiSdkPart & Json) => BaseEvent[] {
  // Calls whose pieces are no JSON; their arguments come with the whole call.
  const unstreamed = new Set<string>();

  return (part) => {
    const id = asText(part.toolCallId) ?? asText(part.id) ?? "";
    const name = asText(part.toolName) ?? "";
    switch (part.type) {
      case "text-delta":
        return turn.text(id, asText(part.text) ?? "");
      case "text-end":
        return turn.endText(id);
      case "reasoning-delta":
        return turn.reasoning(id, asText(part.text) ?? "");
      case "reasoning-end":
        return turn.endReasoning(id);
      case "tool-input-start":
        if (part.inputEncoding === "text") unstreamed.add(id);
        return unstreamed.has(id) ? [] : turn.startCall(id, name);
      case "tool-input-delta":
        return turn.args(id, asText(part.delta) ?? "");
      case "tool-call":
        if (part.invalid === true) refusals.add(id, { name, cause: part.error });
        return turn.call(id, name, JSON.stringify(part.input) ?? "");
      case "tool-result":
        return part.preliminary === true ? [] : turn.result(id, part.output);
      case "tool-error":
        // The part has no further information, and comes too early.
        if (refusals.has(id)) return [];
        return turn.failure(id, toToolError(name, part.error, context));
      case "tool-output-denied":
        return turn.failure(id, denied(name));
      case "tool-approval-request":
        askForApproval(part, context);
        return [];
      case "source":
        return turn.custom(`source-${String(part.sourceType)}`, toSource(part));
      case "file":
      case "reasoning-file":
        return turn.custom(part.type, toFile(toRecord(part.file)));
      case "finish-step":
        spend(part, context);
        return [...turn.endStep(), ...refusals.takeEvents()];
      default:
        return [];
    }
  };
}

function toToolError(
  name: string,
  cause: unknown,
  context: AdapterContext | undefined,
): AgentError {
  if (isAgentError(cause)) return cause;
  context?.logger?.error({ error: cause, tool: name }, "A tool failed.");
  return new AgentError("tool-error", `The tool "${name}" failed.`, { cause });
}

function denied(name: string): AgentError {
  return new AgentError("approval-denied", `The user did not allow "${name}".`);
}

function askForApproval(part: Json, context: AdapterContext | undefined): void {
  // AI SDK 7 asks its own code first: what that approved is not a question for the user.
  if (part.isAutomatic === true) return;
  if (!context) {
    throw new TypeError(
      "A tool needs approval, which requires the run's context: fromAiSdk(stream, context).",
    );
  }
  const { toolCallId, toolName } = toRecord(part.toolCall);
  context.emit.interrupt({
    id: String(part.approvalId),
    reason: "tool_call",
    message: `Allow "${String(toolName)}"?`,
    toolCallId: String(toolCallId),
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" } },
      required: ["approved"],
    },
    ...(typeof part.signature === "string" ? { metadata: { signature: part.signature } } : {}),
  });
}

function spend(part: Json, context: AdapterContext | undefined): void {
  const usage = toRecord(part.usage);
  const input = toRecord(usage.inputTokenDetails);
  const output = toRecord(usage.outputTokenDetails);
  const counts = {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
    reasoningTokens: usage.reasoningTokens ?? output.reasoningTokens,
    cachedInputTokens: usage.cachedInputTokens ?? input.cacheReadTokens,
    cacheWriteInputTokens: input.cacheWriteTokens,
  };
  const spent = toUsage(counts, toRecord(part.response).modelId);
  if (spent) context?.emit.usage(spent);
}

function toSource({ id, url, title, mediaType, filename }: Json): Json {
  const all = { sourceId: id, url, title, mediaType, filename };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => typeof value === "string"));
}

function toFile({ mediaType, base64 }: Json): Json {
  return { url: `data:${String(mediaType)};base64,${String(base64)}`, mediaType };
}

function toThrown(error: unknown): unknown {
  return error ?? new Error("The model failed without a reason.");
}
