import type { Json, Message, RunResult } from "@holodeck/agui-core";
import { sumUsage } from "./token-usage.ts";
import type { ChatTokenUsage } from "./token-usage.ts";
import { isFailure, readArguments } from "../shared/tool-call-info.ts";
import type { ToolStatus } from "../shared/tool-call-info.ts";

/** The answer to a `ChatRequest`. */
export interface ChatResponse {
  /** A ULID: the id of the run that answered. */
  message_id: string;
  /** The text of the agent; may be empty. */
  content: string;
  /** The session that was used or made. */
  session_id: string;
  tool_calls: ToolCallInfo[];
  tokens_used: ChatTokenUsage | null;
  /** Whole milliseconds. */
  execution_time_ms: number;
  /** What `suggestQuestions` proposes to ask next; absent where there is nothing. */
  suggested_questions?: readonly string[];
}

/** A tool that was called on the way to an answer. */
export interface ToolCallInfo {
  name: string;
  arguments: Json;
  status: ToolStatus;
}

/** The answer of a run: everything after `askedId`, the message that it answers. */
export function toChatResponse(
  result: RunResult,
  run: { readonly runId: string; readonly threadId: string; readonly askedId: string },
): ChatResponse {
  const { messages } = result;
  let failed: Set<string> | undefined;
  let content = "";
  const calls: ToolCall[] = [];
  for (let at = placeAfter(messages, run.askedId); at < messages.length; at++) {
    const message = messages[at]!;
    if (message.role === "assistant") {
      content += message.content ?? "";
      if (message.toolCalls) calls.push(...message.toolCalls);
    } else if (message.role === "tool" && isFailure(message)) {
      (failed ??= new Set()).add(message.toolCallId);
    }
  }
  return {
    message_id: run.runId,
    content,
    session_id: run.threadId,
    tool_calls: calls.map(({ id, function: { name, arguments: text } }): ToolCallInfo => {
      const args = readArguments(text);
      const status = args === undefined || failed?.has(id) ? "error" : "success";
      return { name, arguments: args ?? {}, status };
    }),
    tokens_used: sumUsage(result.usage),
    execution_time_ms: toMilliseconds(result.ms),
  };
}

type ToolCall = NonNullable<Extract<Message, { role: "assistant" }>["toolCalls"]>[number];

/** Whole, and never negative: a clock may be set back. */
export function toMilliseconds(ms: number): number {
  return Math.max(0, Math.round(ms));
}

// An agent may have replaced the history, and with it the ids.
function placeAfter(messages: readonly Message[], askedId: string): number {
  const asked = messages.findIndex(({ id }) => id === askedId);
  if (asked !== -1) return asked + 1;
  return messages.map(({ role }) => role).lastIndexOf("user") + 1;
}
