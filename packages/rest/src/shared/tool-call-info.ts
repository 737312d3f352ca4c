import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** What became of a tool call. */
export type ToolStatus = "success" | "error";

/** The arguments of a call, from the streamed text; undefined when it is not a JSON object. */
export function readArguments(text: string): Json | undefined {
  // A call without arguments streams none.
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a tool result, an event or a message, is marked as a failure. Its content is never guessed at. */
export function isFailure(result: {
  readonly error?: unknown;
  readonly metadata?: unknown;
}): boolean {
  const { error } = (result.metadata ?? {}) as { error?: unknown };
  return Boolean(result.error) || Boolean(error);
}
