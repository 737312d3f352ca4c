import type { Json } from "@holodeck/agui-core";
import type { AnswerEnd } from "../shared/answer-reader.ts";
import type { TotalUsage } from "../shared/usage.ts";

/** Why an answer ended, in the words of chat completions. */
export type ChatFinishReason = "stop" | "tool_calls" | "length";

/** Between two messages of one answer, which is a single message there. */
export const betweenMessages = "\n\n";

/** An answer that was stopped is not whole: `length` is the reason that clients know for it. */
export function chatFinishReasonOf(end: AnswerEnd, hasCalls: boolean): ChatFinishReason {
  if (end.type === "cancelled") return "length";
  return hasCalls ? "tool_calls" : "stop";
}

export function toChatUsage({ input, output, total, cached, reasoning }: TotalUsage): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
