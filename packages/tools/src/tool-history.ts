import type { Message } from "@holodeck/agui-core";
import type { ToolCallOutcome } from "@holodeck/agui-core";

/**
 * The messages as models want them: every tool call is followed at once by its result. A call that was
 * never answered gets an error as its result, and a result whose call is gone is left out.
 */
export function settleCalls(messages: readonly Message[]): Message[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message]] : [])),
  );
  return messages.flatMap((message): Message[] => {
    if (message.role === "tool") return [];
    if (message.role !== "assistant") return [message];
    const calls = message.toolCalls ?? [];
    return [message, ...calls.map(({ id }) => results.get(id) ?? unanswered(id))];
  });
}

/** The messages that give a model the results of its calls. */
export function toResults(outcomes: readonly ToolCallOutcome[]): Message[] {
  return outcomes.map(({ id, result, error }) => ({
    id: `${id}:result`,
    role: "tool",
    toolCallId: id,
    content: error
      ? JSON.stringify({ error: { code: error.code, message: error.message } })
      : toContent(result),
  }));
}

function unanswered(toolCallId: string): Message {
  const error = { code: "tool-error", message: "The call was not answered." };
  return {
    id: `${toolCallId}:result`,
    role: "tool",
    toolCallId,
    content: JSON.stringify({ error }),
  };
}

function toContent(result: unknown): string {
  return typeof result === "string" ? result : (JSON.stringify(result) ?? "null");
}
