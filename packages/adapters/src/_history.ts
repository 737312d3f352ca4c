import type { Message } from "@holodeck/agui-core";

type Of<TRole> = Extract<Message, { role: TRole }>;
export type AssistantMessage = Of<"assistant">;
export type ToolMessage = Of<"tool">;
type UserMessage = Of<"user">;
export type HistoryPart = Exclude<UserMessage["content"], string>[number];
export type MediaPart = Exclude<HistoryPart, { type: "text" }>;
/** A message that models know: neither an activity nor what one has thought. */
export type ModelMessage = Exclude<Message, Of<"activity"> | Of<"reasoning">>;

/**
 * A conversation as models accept it: each call is followed directly by its result, and a result
 * without a call is left out. An unanswered call gets a result that states so, unless it is in `open`.
 */
export function toModelHistory(
  messages: readonly Message[],
  open: ReadonlySet<string> = new Set(),
): ModelMessage[] {
  const results = new Map<string, ToolMessage>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message.toolCallId, message);
  }
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === "activity" || message.role === "reasoning" || message.role === "tool") {
      return [];
    }
    if (message.role !== "assistant") return [message];
    const { toolCalls = [], content = "" } = message;
    if (toolCalls.length === 0) return content === "" ? [] : [message];
    const answered = toolCalls.flatMap(({ id }) => {
      const result = results.get(id);
      return result ?? (open.has(id) ? [] : unanswered(id));
    });
    return [message, ...answered];
  });
}

/** The name of the tool behind each call. */
export function toolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  return new Map(calls.map((call) => [call.id, call.function.name]));
}

/** The text of a content, without its media. */
export function textOf(content: string | readonly HistoryPart[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

/** Where a medium is: on the web, or inline as a `data:` URL; undefined for a file of a provider's. */
export function urlOf({ source }: MediaPart): string | undefined {
  if (source.type === "url") return source.value;
  return source.type === "data" ? `data:${source.mimeType};base64,${source.value}` : undefined;
}

/** The name that a medium came with. */
export function fileNameOf({ metadata }: MediaPart): string | undefined {
  const name: unknown = (metadata as { filename?: unknown } | undefined)?.filename;
  return typeof name === "string" ? name : undefined;
}

function unanswered(toolCallId: string): ToolMessage {
  return { id: `${toolCallId}-none`, role: "tool", toolCallId, content: "There is no result." };
}
