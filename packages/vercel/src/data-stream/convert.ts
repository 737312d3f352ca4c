import { describeError, isAgentError } from "@holodeck/agui-core";
import { needsEscape } from "@holodeck/agui-core/internal";
import { toSafeJson } from "../shared/json.ts";
import { maskedFailure } from "../shared/run-failure.ts";

/** How much of an error a client may see. */
export interface ConvertErrorOptions {
  /** Show messages that are masked otherwise. */
  debug?: boolean;
}

/** A text part of data stream v1: `0:"…"` and a line feed. */
export function convertText(text: string): string {
  return needsEscape.test(text) ? `0:${JSON.stringify(text)}\n` : `0:"${text}"\n`;
}

/** A data part of data stream v1: `2:[…]` and a line feed. What is not an array becomes one. */
export function convertData(data: unknown): string {
  return toLine("2", Array.isArray(data) ? data : [data]);
}

/**
 * An error part of data stream v1: `3:"…"` and a line feed. A string and the message of an
 * `AgentError` are sent; any other error is masked unless `debug`.
 *
 * @example
 * ```ts
 * convertError(new Error("connect postgres://user:pw@db")); // 3:"An error occurred."
 * ```
 */
export function convertError(error: unknown, options: ConvertErrorOptions = {}): string {
  return toLine("3", errorMessage(error, options.debug));
}

/** One line of data stream v1. Readers that want a value fail on a line without one. */
export function toLine(code: string, value: unknown): string {
  return `${code}:${toSafeJson(value ?? null)}\n`;
}

function errorMessage(error: unknown, debug = false): string {
  if (typeof error === "string") return error;
  const isShown = isAgentError(error) || (debug && error instanceof Error);
  return isShown ? describeError(error, debug).message : maskedFailure;
}
