import type { RunResult } from "@holodeck/agui-core";

/** What an answer cost. */
export interface ChatTokenUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** The tokens of a whole run; null when none were counted. */
export function sumUsage(usage: RunResult["usage"]): ChatTokenUsage | null {
  if (usage.length === 0) return null;
  let [prompt, completion, total] = [0, 0, 0];
  for (const { inputTokens = 0, outputTokens = 0, totalTokens } of usage) {
    prompt += inputTokens;
    completion += outputTokens;
    total += totalTokens ?? inputTokens + outputTokens;
  }
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
}
