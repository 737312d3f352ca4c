import type { Message } from "@holodeck/agui-core";
import { fileNameOf, textOf, toModelHistory, toolNames, urlOf } from "../_history.ts";
import type { HistoryPart } from "../_history.ts";

export type OpenAIAgentsUserPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image: string | { id: string } }
  | { type: "input_file"; file: string | { id: string } | { url: string }; filename?: string };

/** An item of the input as `run` of the OpenAI Agents SDK takes it. */
export type OpenAIAgentsItem =
  | { role: "system"; content: string }
  | { role: "user"; content: string | OpenAIAgentsUserPart[] }
  | {
      role: "assistant";
      status: "completed";
      content: { type: "output_text"; text: string }[];
    }
  | {
      type: "function_call";
      callId: string;
      name: string;
      arguments: string;
      status: "completed";
    }
  | {
      type: "function_call_result";
      callId: string;
      name: string;
      status: "completed";
      output: { type: "text"; text: string };
    };

const status = "completed" as const;

/** `input.messages` as `run` takes them: each call followed by its result. */
export function toOpenAIAgentsInput(messages: readonly Message[]): OpenAIAgentsItem[] {
  const names = toolNames(messages);
  return toModelHistory(messages).flatMap((message): OpenAIAgentsItem[] => {
    switch (message.role) {
      case "user":
        return [{ role: "user", content: toUserContent(message.content) }];
      case "assistant": {
        const { content = "", toolCalls = [] } = message;
        const text = content === "" ? [] : [{ type: "output_text" as const, text: content }];
        return [
          ...(text.length === 0 ? [] : [{ role: "assistant" as const, status, content: text }]),
          ...toolCalls.map(({ id, function: { name, arguments: args } }) => ({
            type: "function_call" as const,
            callId: id,
            name,
            arguments: args,
            status,
          })),
        ];
      }
      case "tool": {
        const { toolCallId: callId, content, error = "" } = message;
        const output = { type: "text" as const, text: textOf(content) || error };
        const name = names.get(callId) ?? "";
        return [{ type: "function_call_result", callId, name, status, output }];
      }
      default:
        return [{ role: "system", content: message.content }];
    }
  });
}

function toUserContent(content: string | readonly HistoryPart[]): string | OpenAIAgentsUserPart[] {
  return typeof content === "string" ? content : content.map(toUserPart);
}

function toUserPart(part: HistoryPart): OpenAIAgentsUserPart {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const { source } = part;
  const url = urlOf(part);
  if (part.type === "image") return { type: "input_image", image: url ?? { id: source.value } };
  if (url === undefined) return { type: "input_file", file: { id: source.value } };
  if (source.type === "url") return { type: "input_file", file: { url } };
  return { type: "input_file", file: url, filename: fileNameOf(part) ?? "file" };
}
