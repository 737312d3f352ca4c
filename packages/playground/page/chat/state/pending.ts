import type { Interrupt, Message, ToolCall } from "@ag-ui/core";

/** The unanswered calls since the last question that need no approval. */
export function pendingCalls(
  messages: readonly Message[],
  interrupts: readonly Interrupt[],
): readonly ToolCall[] {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const answered = new Set(
    messages.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
  const asked = new Set(interrupts.map(({ toolCallId }) => toolCallId));
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .filter(({ id }) => !answered.has(id) && !asked.has(id));
}

/** Puts the answer to a call behind it, and behind the answers that are there already. */
export function withResult(
  messages: readonly Message[],
  result: Extract<Message, { role: "tool" }>,
): readonly Message[] {
  const owner = messages.findIndex(
    (message) =>
      message.role === "assistant" && message.toolCalls?.some(({ id }) => id === result.toolCallId),
  );
  if (owner < 0) return [...messages, result];
  let at = owner + 1;
  while (messages[at]?.role === "tool") at++;
  return [...messages.slice(0, at), result, ...messages.slice(at)];
}
