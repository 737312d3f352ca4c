import { describeError, EventType, isAgentError } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";

export interface RunReport {
  readonly outcome: string;
  /** The code of what ended it. */
  readonly error?: string;
}

const cancelling = new Set<string>(["stopped", "disconnected", "replaced"]);

/** How a run ended: by its last event, or by what stopped it before there was one. */
export function toRunReport(terminal: BaseEvent | undefined, reason: unknown): RunReport {
  if (terminal?.type === EventType.RUN_ERROR) {
    return { outcome: "error", error: (terminal.code as string | undefined) ?? "agent-error" };
  }
  if (terminal) {
    return { outcome: (terminal.outcome as { type?: string } | undefined)?.type ?? "success" };
  }
  if (reason === undefined) return { outcome: "cancelled" };
  const { code } = describeError(reason);
  const isCancelled = isAgentError(reason) && cancelling.has(code);
  return { outcome: isCancelled ? "cancelled" : "error", error: code };
}

/** What a run has used, as reported at its end. */
export interface Spent {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
}

export function usageOf(terminal: BaseEvent | undefined): readonly Spent[] {
  return (terminal?.usage as readonly Spent[] | undefined) ?? [];
}

/** The sum of what is known; undefined when nothing is. */
export function sumOf(usage: readonly Spent[], key: keyof Spent): number | undefined {
  const known = usage.map((entry) => entry[key]).filter((value) => typeof value === "number");
  return known.length > 0 ? known.reduce((total, value) => total + value, 0) : undefined;
}
