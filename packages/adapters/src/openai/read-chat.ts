import { asText, isRecord } from "@holodeck/agui-core/internal";
import { ulid } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";
import type { Turn } from "../_turn.ts";
import { toUsage } from "../_usage.ts";
import type { Usage } from "../_usage.ts";

/** Reads the chunks of one answer. */
export interface ChunkReader {
  read(chunk: Json): BaseEvent[];
  /** Whether the model has signalled its end. */
  isEnded(): boolean;
  usage(): Usage | undefined;
}

const text = "text";
const thought = "thought";

/** Reads chunks of chat completions, from OpenAI and compatible services. */
export function readChat(turn: Turn): ChunkReader {
  const calls = new Map<unknown, string>();
  let ended = false;
  let usage: Usage | undefined;

  function readDelta(delta: Json): BaseEvent[] {
    const reply = (asText(delta.content) ?? "") + (asText(delta.refusal) ?? "");
    // OpenAI does not send reasoning; these are the fields that other services use for it.
    const thinks = asText(delta.reasoning_content) ?? asText(delta.reasoning) ?? "";
    const pieces = list(delta.tool_calls);
    return [
      ...turn.reasoning(thought, thinks),
      ...(reply === "" ? [] : turn.endReasoning(thought)),
      ...turn.text(text, reply),
      ...list(delta.annotations).flatMap((one) => toSource(turn, one)),
      ...(pieces.length === 0 ? [] : [...turn.endReasoning(thought), ...turn.endText(text)]),
      ...pieces.flatMap(readCall),
    ];
  }

  function readCall(piece: Json): BaseEvent[] {
    const { name, arguments: args } = toRecord(piece.function);
    const given = asText(piece.id) || undefined;
    let id = calls.get(piece.index);
    // Some number every call 0; what has a name and another id is another call.
    const isNew = id === undefined || (!!name && given !== undefined && given !== id);
    const before = isNew && id !== undefined ? turn.endCall(id) : [];
    if (isNew || id === undefined) {
      id = given ?? ulid();
      calls.set(piece.index, id);
    }
    const start = turn.startCall(id, asText(name) ?? "");
    return [...before, ...start, ...turn.args(id, asText(args) ?? "")];
  }

  return {
    read(chunk) {
      // Several services repeat the sum so far in each chunk, so the last one counts.
      if (isRecord(chunk.usage)) usage = toChatUsage(chunk.usage, chunk.model) ?? usage;
      const choice = list(chunk.choices).find(({ index = 0 }) => index === 0);
      if (!choice) return [];
      const events = readDelta(toRecord(choice.delta));
      if (!choice.finish_reason) return events;
      ended = true;
      return [...events, ...turn.endStep()];
    },
    isEnded: () => ended,
    usage: () => usage,
  };
}

/** The page that an annotation names. */
export function toSource(turn: Turn, annotation: Json): BaseEvent[] {
  if (annotation.type !== "url_citation") return [];
  // Chat completions keep it in a member of that name, responses do not.
  const { url, title } = isRecord(annotation.url_citation) ? annotation.url_citation : annotation;
  if (typeof url !== "string") return [];
  return turn.custom("source-url", { url, ...(typeof title === "string" ? { title } : {}) });
}

function toChatUsage(usage: Json, model: unknown): Usage | undefined {
  const counts = {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    reasoningTokens: toRecord(usage.completion_tokens_details).reasoning_tokens,
    cachedInputTokens: toRecord(usage.prompt_tokens_details).cached_tokens,
  };
  return toUsage(counts, model);
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
