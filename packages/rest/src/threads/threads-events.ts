import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";
import { isFailure } from "../shared/tool-call-info.ts";

/** A tool call in this dialect. At most one of `result` and `error` is set. */
export interface ThreadToolCall {
  readonly id: string;
  readonly tool_name: string;
  readonly arguments: Json;
  readonly result: unknown;
  readonly error: string | null;
  /** `null` until it has run. */
  readonly execution_time_ms: number | null;
}

/** A message in this dialect. */
export interface ThreadMessage {
  readonly id: string;
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly content: string;
  readonly timestamp: string;
  /** An assistant's only. */
  readonly tool_calls: readonly ThreadToolCall[] | null;
  /** Of a tool's result: the call it answers. */
  readonly tool_call_id?: string;
  readonly metadata: Json;
}

/** Milliseconds as ISO 8601, in UTC. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The arguments of a call as an object; an empty one when they are none. */
export function toArguments(text: string): Json {
  const value = parse(text);
  return isRecord(value) ? value : {};
}

/** What a tool returned, from its result, an event or a message: the value, or why there is none. */
export function toThreadsOutcome(answer: {
  readonly content?: unknown;
  readonly error?: unknown;
  readonly metadata?: unknown;
}): { result: unknown; error: string | null } {
  const { content = null } = answer;
  const value = typeof content === "string" ? parse(content) : content;
  if (isFailure(answer)) return { result: null, error: errorIn(value) ?? textIn(content) };
  return { result: value === undefined ? content : value, error: null };
}

function errorIn(value: unknown): string | undefined {
  const { message } = isRecord(value) && isRecord(value.error) ? value.error : {};
  return typeof message === "string" ? message : undefined;
}

function textIn(content: unknown): string {
  return typeof content === "string" && content !== "" ? content : "The tool failed.";
}

/** The text of a message. */
export function plainTextOf({ content }: Message): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
