import { asText } from "@holodeck/agui-core/internal";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";
import type { Turn } from "../_turn.ts";
import { toUsage } from "../_usage.ts";
import type { Usage } from "../_usage.ts";
import { toSource } from "./read-chat.ts";
import type { ChunkReader } from "./read-chat.ts";

/** Reads the events of a streamed response. */
export function readResponse(turn: Turn): ChunkReader {
  const calls = new Map<unknown, string>();
  let ended = false;
  let usage: Usage | undefined;

  function readItem({ item, output_index: index, type }: Json): BaseEvent[] {
    const {
      type: kind,
      call_id: id,
      name,
      arguments: args,
      result,
      output_format,
    } = toRecord(item);
    if (kind === "function_call" && typeof id === "string") {
      calls.set(index, id);
      const start = turn.startCall(id, asText(name) ?? "");
      return type === "response.output_item.added"
        ? start
        : [...start, ...turn.call(id, "", asText(args) ?? "")];
    }
    if (kind === "image_generation_call" && typeof result === "string") {
      const mediaType = `image/${asText(output_format) ?? "png"}`;
      return turn.custom("file", { url: `data:${mediaType};base64,${result}`, mediaType });
    }
    return [];
  }

  return {
    read(event) {
      const delta = asText(event.delta) ?? "";
      switch (event.type) {
        case "response.output_text.delta":
        case "response.refusal.delta":
          return turn.text(keyOf(event), delta);
        case "response.output_text.done":
        case "response.refusal.done":
          return turn.endText(keyOf(event));
        case "response.reasoning_text.delta":
        case "response.reasoning_summary_text.delta":
          return turn.reasoning(keyOf(event), delta);
        case "response.reasoning_text.done":
        case "response.reasoning_summary_text.done":
          return turn.endReasoning(keyOf(event));
        case "response.output_text.annotation.added":
          return toSource(turn, toRecord(event.annotation));
        case "response.function_call_arguments.delta":
          return turn.args(calls.get(event.output_index) ?? "", delta);
        case "response.output_item.added":
        case "response.output_item.done":
          return readItem(event);
        case "response.completed":
        case "response.incomplete":
          ended = true;
          usage = toResponseUsage(toRecord(event.response));
          return turn.endStep();
        default:
          return [];
      }
    },
    isEnded: () => ended,
    usage: () => usage,
  };
}

function keyOf({ output_index, content_index, summary_index }: Json): string {
  return [output_index, content_index, summary_index].join();
}

function toResponseUsage({ usage, model }: Json): Usage | undefined {
  const spent = toRecord(usage);
  const counts = {
    inputTokens: spent.input_tokens,
    outputTokens: spent.output_tokens,
    totalTokens: spent.total_tokens,
    reasoningTokens: toRecord(spent.output_tokens_details).reasoning_tokens,
    cachedInputTokens: toRecord(spent.input_tokens_details).cached_tokens,
  };
  return toUsage(counts, model);
}
