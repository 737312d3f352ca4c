import type { Message, Tool } from "@holodeck/agui-core";
import { fileNameOf, textOf, toModelHistory, urlOf } from "../_history.ts";
import type { HistoryPart } from "../_history.ts";

export type OpenAIUserPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { filename?: string; file_data?: string; file_id?: string } };

/** A message as chat completions take it. */
export type OpenAIMessage =
  | { role: "system" | "developer"; content: string }
  | { role: "user"; content: string | OpenAIUserPart[] }
  | {
      role: "assistant";
      content: string | null;
      tool_calls?: {
        id: string;
        type: "function";
        function: { name: string; arguments: string };
      }[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

/** A tool as chat completions take it. */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/**
 * `input.messages` as chat completions take them: images as image parts, each call followed by its result.
 *
 * @example
 * ```ts
 * openai.chat.completions.create({ model, messages: toOpenAIMessages(input.messages), stream: true });
 * ```
 */
export function toOpenAIMessages(messages: readonly Message[]): OpenAIMessage[] {
  return toModelHistory(messages).map((message): OpenAIMessage => {
    switch (message.role) {
      case "user":
        return { role: "user", content: toUserContent(message.content) };
      case "assistant": {
        const { content = "", toolCalls = [] } = message;
        const calls = toolCalls.map(({ id, function: { name, arguments: args } }) => ({
          id,
          type: "function" as const,
          function: { name, arguments: args },
        }));
        const made = calls.length === 0 ? {} : { tool_calls: calls };
        return { role: "assistant", content: content === "" ? null : content, ...made };
      }
      case "tool":
        return {
          role: "tool",
          tool_call_id: message.toolCallId,
          content: textOf(message.content) || (message.error ?? ""),
        };
      default:
        return { role: message.role, content: message.content };
    }
  });
}

/** `input.tools` as chat completions take them. */
export function toOpenAITools(
  tools: readonly Pick<Tool, "name" | "description" | "parameters">[],
): OpenAITool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters: toParameters(parameters) },
  }));
}

/** The schema of a tool, or the one of a tool without parameters. */
export function toParameters(parameters: unknown): Record<string, unknown> {
  return (
    (parameters as Record<string, unknown> | null | undefined) ?? { type: "object", properties: {} }
  );
}

function toUserContent(content: string | readonly HistoryPart[]): string | OpenAIUserPart[] {
  return typeof content === "string" ? content : content.flatMap(toUserPart);
}

function toUserPart(part: HistoryPart): OpenAIUserPart | OpenAIUserPart[] {
  if (part.type === "text") return { type: "text", text: part.text };
  const { source } = part;
  const url = urlOf(part);
  if (part.type === "image" && url !== undefined) return { type: "image_url", image_url: { url } };
  if (source.type === "file") return { type: "file", file: { file_id: source.value } };
  if (source.type === "url" || url === undefined) return { type: "text", text: source.value };
  if (part.type === "audio") {
    const format = /wav/i.test(source.mimeType ?? "") ? "wav" : "mp3";
    return { type: "input_audio", input_audio: { data: source.value, format } };
  }
  return { type: "file", file: { filename: fileNameOf(part) ?? "file", file_data: url } };
}
