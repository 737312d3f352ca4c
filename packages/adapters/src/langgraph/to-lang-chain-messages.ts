import type { Message } from "@holodeck/agui-core";
import { textOf, toModelHistory, urlOf } from "../_history.ts";
import type { HistoryPart } from "../_history.ts";
import { parseArgs, toRecord } from "../_json.ts";

export type LangChainUserPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

/** A message as LangChain and the state of a graph take it. */
export type LangChainMessage = { id: string } & (
  | { role: "system"; content: string }
  | { role: "user"; content: string | LangChainUserPart[] }
  | {
      role: "assistant";
      content: string;
      tool_calls?: { type: "tool_call"; id: string; name: string; args: Record<string, unknown> }[];
    }
  | { role: "tool"; tool_call_id: string; content: string }
);

/**
 * `input.messages` as LangChain takes them, under their own ids: a graph that has them already does not
 * get them twice.
 */
export function toLangChainMessages(messages: readonly Message[]): LangChainMessage[] {
  return toModelHistory(messages).map((message): LangChainMessage => {
    const { id } = message;
    switch (message.role) {
      case "user":
        return { id, role: "user", content: toUserContent(message.content) };
      case "assistant": {
        const { content = "", toolCalls = [] } = message;
        const calls = toolCalls.map(({ id: callId, function: { name, arguments: args } }) => ({
          type: "tool_call" as const,
          id: callId,
          name,
          args: toRecord(parseArgs(args)),
        }));
        return {
          id,
          role: "assistant",
          content,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        };
      }
      case "tool": {
        const content = textOf(message.content) || (message.error ?? "");
        return { id, role: "tool", tool_call_id: message.toolCallId, content };
      }
      default:
        return { id, role: "system", content: message.content };
    }
  });
}

function toUserContent(content: string | readonly HistoryPart[]): string | LangChainUserPart[] {
  if (typeof content === "string") return content;
  return content.flatMap((part): LangChainUserPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const url = urlOf(part);
    if (url === undefined) return [];
    return part.type === "image"
      ? [{ type: "image_url", image_url: { url } }]
      : [{ type: "text", text: part.source.type === "url" ? url : `[${part.type}]` }];
  });
}
