import type { Message, ToolCall } from "@ag-ui/core";

const none: readonly ToolCall[] = Object.freeze([]);

/** The tool calls that a message makes. */
export function callsIn(message: Message): readonly ToolCall[] {
  // Others may carry such a member, but it means nothing there.
  return (message.role === "assistant" && message.toolCalls) || none;
}

/** The ids of the calls that have a result. */
export function answeredIn(messages: readonly Message[]): Set<string> {
  return new Set(
    messages.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
  );
}
