import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** Why a run ended, in the AI SDK's terms. */
export type FinishReason = "stop" | "tool-calls" | "other";

/** Why a run ended: `isWaiting` when calls are left for the client. */
export function finishReasonOf(outcome: unknown, isWaiting: boolean): FinishReason {
  if (outcome === "cancelled") return "other";
  return outcome === "interrupt" || isWaiting ? "tool-calls" : "stop";
}

const counts = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
];

/** The tokens of all models together; undefined when none were reported. */
export function totalUsage(usage: unknown): Json | undefined {
  if (!Array.isArray(usage)) return undefined;
  const total: Record<string, number> = {};
  for (const entry of usage.filter(isRecord)) {
    for (const name of counts) {
      const count = entry[name];
      if (typeof count === "number") total[name] = (total[name] ?? 0) + count;
    }
  }
  return Object.keys(total).length > 0 ? total : undefined;
}

/** Whether an interrupt can be answered with yes or no: an approval has no other answers. */
export function isApproval({ responseSchema }: Json): boolean {
  if (!isRecord(responseSchema)) return true;
  const { required } = responseSchema;
  if (!Array.isArray(required)) return true;
  return required.every((key) => key === "approved" || key === "reason");
}
