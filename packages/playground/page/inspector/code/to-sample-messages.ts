import type { ContentPart, Message } from "@ag-ui/core";
import type { SampleRequest } from "./endpoints.ts";

/** A message as the AI SDK writes it. */
export interface SampleMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UiPart[];
}

type UiPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string };

/** The messages without tool calls; `isWhole` is false when something was left out. */
export function toSampleMessages({ input }: SampleRequest): {
  messages: SampleMessage[];
  isWhole: boolean;
} {
  const messages: SampleMessage[] = [];
  let isWhole = true;
  for (const message of input.messages) {
    const { id, role } = message;
    if (role === "tool" || (role === "assistant" && message.toolCalls?.length)) isWhole = false;
    if (role !== "user" && role !== "assistant") continue;
    const parts = toParts(message);
    if (parts.length > 0) messages.push({ id, role, parts });
  }
  return { messages, isWhole };
}

function toParts({ content }: Message): UiPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.flatMap(toPart) : [];
}

function toPart(part: ContentPart): UiPart[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  const { source } = part;
  if (source.type === "data") {
    const { mimeType, value } = source;
    return [{ type: "file", mediaType: mimeType, url: `data:${mimeType};base64,${value}` }];
  }
  if (source.type !== "url") return [];
  return [
    { type: "file", mediaType: source.mimeType ?? "application/octet-stream", url: source.value },
  ];
}
