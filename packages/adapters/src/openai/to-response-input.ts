import type { Message, Tool } from "@holodeck/agui-core";
import { fileNameOf, textOf, toModelHistory, urlOf } from "../_history.ts";
import type { HistoryPart } from "../_history.ts";
import { toParameters } from "./to-openai-messages.ts";

export type ResponseUserPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url?: string; file_id?: string }
  | {
      type: "input_file";
      filename?: string;
      file_data?: string;
      file_url?: string;
      file_id?: string;
    };

/** An item of the input as `responses.create` takes it. */
export type ResponseInputItem =
  | { role: "system" | "developer" | "assistant"; content: string }
  | { role: "user"; content: string | ResponseUserPart[] }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string };

/** A tool as `responses.create` takes it. */
export interface ResponseTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/**
 * `input.messages` as `responses.create` takes them: images as image parts, each call followed by its result.
 *
 * @example
 * ```ts
 * openai.responses.create({ model, input: toResponseInput(input.messages), stream: true });
 * ```
 */
export function toResponseInput(messages: readonly Message[]): ResponseInputItem[] {
  return toModelHistory(messages).flatMap((message): ResponseInputItem[] => {
    switch (message.role) {
      case "user":
        return [{ role: "user", content: toUserContent(message.content) }];
      case "assistant": {
        const { content = "", toolCalls = [] } = message;
        const calls = toolCalls.map(({ id, function: { name, arguments: args } }) => ({
          type: "function_call" as const,
          call_id: id,
          name,
          arguments: args,
        }));
        return [...(content === "" ? [] : [{ role: "assistant" as const, content }]), ...calls];
      }
      case "tool": {
        const output = textOf(message.content) || (message.error ?? "");
        return [{ type: "function_call_output", call_id: message.toolCallId, output }];
      }
      default:
        return [{ role: message.role, content: message.content }];
    }
  });
}

/** `input.tools` as `responses.create` takes them. */
export function toResponseTools(
  tools: readonly Pick<Tool, "name" | "description" | "parameters">[],
): ResponseTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    parameters: toParameters(parameters),
    // Strict schemas have to name every property as required; a client's need not.
    strict: false,
  }));
}

function toUserContent(content: string | readonly HistoryPart[]): string | ResponseUserPart[] {
  return typeof content === "string" ? content : content.map(toUserPart);
}

function toUserPart(part: HistoryPart): ResponseUserPart {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const { source } = part;
  const url = urlOf(part);
  if (part.type === "image") {
    const image = url === undefined ? { file_id: source.value } : { image_url: url };
    return { type: "input_image", detail: "auto", ...image };
  }
  if (url === undefined) return { type: "input_file", file_id: source.value };
  if (source.type === "url") return { type: "input_file", file_url: url };
  return { type: "input_file", filename: fileNameOf(part) ?? "file", file_data: url };
}
