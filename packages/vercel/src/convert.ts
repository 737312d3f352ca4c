import { describeError, isAgentError } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";

/** The codes of data stream v1 that we write, each one kind of part. */
export type DataStreamCode =
  | "0"
  | "2"
  | "3"
  | "8"
  | "9"
  | "a"
  | "b"
  | "c"
  | "d"
  | "e"
  | "f"
  | "g"
  | "h"
  | "i"
  | "j"
  | "k";

/** How much of an error a client may see. */
export interface ConvertErrorOptions {
  /** Show messages that are masked otherwise. */
  debug?: boolean;
}

/** What a client reads in place of an error that is not meant for it. */
export const maskedError = "An error occurred.";

/** A text part of data stream v1: `0:"…"` and a line feed. */
export function convertText(text: string): string {
  return toLine("0", text);
}

/** A data part of data stream v1: `2:[…]` and a line feed. What is not an array becomes one. */
export function convertData(data: unknown): string {
  return toLine("2", Array.isArray(data) ? data : [data]);
}

/**
 * An error part of data stream v1: `3:"…"` and a line feed. A string and an `AgentError` speak for
 * themselves; anything else is masked unless `debug`.
 *
 * @example
 * ```ts
 * convertError(new Error("connect postgres://user:pw@db")); // 3:"An error occurred."
 * ```
 */
export function convertError(error: unknown, options: ConvertErrorOptions = {}): string {
  return toLine("3", errorMessage(error, options.debug ?? false));
}

/** One line of data stream v1. */
export function toLine(code: DataStreamCode, value: unknown): string {
  // Readers that want a value fail on a line without one.
  const json = JSON.stringify(value) ?? "null";
  return `${code}:${json.includes('"__proto__":') ? withoutPrototype(json) : json}\n`;
}

// Careful readers drop a whole line for such a key; the others let it into their objects.
function withoutPrototype(json: string): string {
  const value: unknown = JSON.parse(json, (key, member: unknown) =>
    key === "__proto__" ? undefined : member,
  );
  return JSON.stringify(value);
}

/** What a client may read of a RUN_ERROR. Without a code of its own nobody meant it for clients. */
export function errorText({ message, code }: BaseEvent, debug = false): string {
  const isMeant = debug || (typeof code === "string" && !anonymousCodes.has(code));
  return isMeant && typeof message === "string" && message !== "" ? message : maskedError;
}

// What an error that is not an `AgentError` is filed under.
const anonymousCodes = new Set(["agent-error", "internal"]);

function errorMessage(error: unknown, debug: boolean): string {
  if (typeof error === "string") return error;
  return isAgentError(error) || (debug && error instanceof Error)
    ? describeError(error, debug).message
    : maskedError;
}
