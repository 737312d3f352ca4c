import type { Json, Message, RunResult } from "@holodeck/agui-core";
import { sumUsage } from "./token-usage.ts";
import type { ChatTokenUsage } from "./token-usage.ts";
import { isFailure, readArguments } from "./tool-call-info.ts";
import type { ToolStatus } from "./tool-call-info.ts";

/** The answer to a `ChatRequest`. */
export interface ChatResponse {
  /** A ULID: the id of the run that answered. */
  message_id: string;
  /** What the agent said; may be empty. */
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

/** What a run said after `askedId`, the message that it answers. */
export function toChatResponse(
  result: RunResult,
  run: { readonly runId: string; readonly threadId: string; readonly askedId: string },
): ChatResponse {
  const said = saidAfter(result.messages, run.askedId);
  const failed = new Set(
    said.flatMap((message) =>
      message.role === "tool" && isFailure(message) ? message.toolCallId : [],
    ),
  );
  const answers = said.flatMap((message) => (message.role === "assistant" ? message : []));
  return {
    message_id: run.runId,
    content: answers.map(({ content }) => content ?? "").join(""),
    session_id: run.threadId,
    tool_calls: answers.flatMap(({ toolCalls = [] }) =>
      toolCalls.map(({ id, function: { name, arguments: text } }): ToolCallInfo => {
        const args = readArguments(text);
        const status = args === undefined || failed.has(id) ? "error" : "success";
        return { name, arguments: args ?? {}, status };
      }),
    ),
    tokens_used: sumUsage(result.usage),
    execution_time_ms: toMilliseconds(result.ms),
  };
}

/** Whole, and never negative: a clock may be set back. */
export function toMilliseconds(ms: number): number {
  return Math.max(0, Math.round(ms));
}

// An agent may have replaced the history, and with it the ids.
function saidAfter(messages: readonly Message[], askedId: string): readonly Message[] {
  const asked = messages.findIndex(({ id }) => id === askedId);
  if (asked !== -1) return messages.slice(asked + 1);
  return messages.slice(messages.map(({ role }) => role).lastIndexOf("user") + 1);
}
