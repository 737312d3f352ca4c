import type { Message } from "@ag-ui/core";
import { parseJsonText } from "./json.ts";
import type { Json } from "@holodeck/agui-core";

/** A message as `useChat` keeps and sends it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly Json[];
}

/** AG-UI's messages as the AI SDK has them: everything between two questions is one message. */
export function toUiMessages(messages: readonly Message[]): UiMessage[] {
  const results = new Map(
    messages.flatMap((one) => (one.role === "tool" ? [[one.toolCallId, one] as const] : [])),
  );
  const all: { id: string; role: "user" | "assistant"; parts: Json[] }[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      all.push({ id: message.id, role: "user", parts: toUserParts(message.content) });
      continue;
    }
    const parts = toAssistantParts(message, results);
    if (parts.length === 0) continue;
    const last = all.at(-1);
    if (last?.role === "assistant") last.parts.push(...parts);
    else all.push({ id: message.id, role: "assistant", parts });
  }
  return all;
}

type User = Extract<Message, { role: "user" }>;
type ToolMessage = Extract<Message, { role: "tool" }>;

function toUserParts(content: User["content"]): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part): Json => {
    if (part.type === "text") return { type: "text", text: part.text };
    const { source } = part;
    const mediaType = source.mimeType ?? "application/octet-stream";
    const url = source.type === "data" ? `data:${mediaType};base64,${source.value}` : source.value;
    const filename = part.metadata?.filename;
    return { type: "file", mediaType, url, ...(typeof filename === "string" && { filename }) };
  });
}

function toAssistantParts(message: Message, results: ReadonlyMap<string, ToolMessage>): Json[] {
  const origin = { agui: { messageId: message.id } };
  if (message.role === "reasoning") {
    return [{ type: "reasoning", text: message.content, providerMetadata: origin }];
  }
  if (message.role !== "assistant") return [];
  const { content, toolCalls = [] } = message;
  const hasText = typeof content === "string" && content !== "";
  return [
    ...(hasText ? [{ type: "text", text: content, providerMetadata: origin }] : []),
    ...toolCalls.map((call): Json => {
      const { name, arguments: args } = call.function;
      return {
        type: `tool-${name}`,
        toolCallId: call.id,
        input: args.trim() === "" ? {} : (parseJsonText(args) ?? args),
        callProviderMetadata: origin,
        ...toOutput(results.get(call.id)),
      };
    }),
  ];
}

function toOutput(result: ToolMessage | undefined): Json {
  if (!result) return { state: "input-available" };
  if (result.error !== undefined) return { state: "output-error", errorText: result.error };
  const { content } = result;
  const output = typeof content === "string" ? (parseJsonText(content) ?? content) : content;
  return { state: "output-available", output };
}
