import { isRecord } from "@holodeck/agui-core/internal";

/** The tokens of all models of a run together. */
export interface TotalUsage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cached: number;
  readonly reasoning: number;
}

export const zeroUsage: TotalUsage = { input: 0, output: 0, total: 0, cached: 0, reasoning: 0 };

/** Adds up the usage at the end of a run. Returns undefined when none was reported. */
export function addUsage(usage: unknown): TotalUsage | undefined {
  if (!Array.isArray(usage) || usage.length === 0) return undefined;
  const sum: { -readonly [Name in keyof TotalUsage]: number } = { ...zeroUsage };
  for (const entry of usage.filter(isRecord)) {
    const input = count(entry.inputTokens);
    const output = count(entry.outputTokens);
    sum.input += input;
    sum.output += output;
    sum.total += entry.totalTokens === undefined ? input + output : count(entry.totalTokens);
    sum.cached += count(entry.cachedInputTokens);
    sum.reasoning += count(entry.reasoningTokens);
  }
  return sum;
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.round(value)) : 0;
}
