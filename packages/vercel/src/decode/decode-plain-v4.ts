import { isOpaqueId } from "@holodeck/agui-core";
import { isMessageId, isRecord } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";
import type { DecodedChat, DecodeOptions } from "./decoded-chat.ts";
import { onlyTextPart, readEach, readOwnMembers, toPlainChat } from "./plain-envelope.ts";

/**
 * Fast path for what `useChat` of AI SDK 3.4 and 4 sends in an ordinary chat, like `decodePlainUi` for
 * later ones. Returns undefined to fall back to the full decoder.
 */
export function decodePlainV4(
  body: Json,
  { runId, limits }: DecodeOptions,
): DecodedChat | undefined {
  const { id, messages: sent } = body;
  const isNamed = id !== undefined && id !== null;
  if ((isNamed && !isOpaqueId(id)) || !Array.isArray(sent)) return undefined;
  const forwardedProps = readOwnMembers(body);
  if (forwardedProps === undefined) return undefined;
  const last = sent.length - 1;
  const messages = readEach(sent, limits.messages, (message, index) => {
    const plain = toPlainMessage(message, index);
    if (plain === undefined || index !== last) return plain;
    // The last one is continued if it is the assistant's, and new if it is the user's.
    if (plain.role === "assistant" || plain.content.length > limits.messageChars) return undefined;
    return plain;
  });
  const threadId = isNamed ? id : runId;
  return messages && toPlainChat({ threadId, runId, messages, forwardedProps });
}

type PlainMessage = Message & { readonly content: string };

function toPlainMessage(message: unknown, index: number): PlainMessage | undefined {
  if (!isRecord(message)) return undefined;
  const { id: given, role, content } = message;
  // These clients keep their ids to themselves.
  const id = given === undefined ? `message-${index}` : given;
  if (!isMessageId(id) || typeof content !== "string" || content === "") return undefined;
  switch (role) {
    case "user":
      return hasFiles(message) ? undefined : { id, role, content };
    case "system":
      return { id, role, content };
    case "assistant":
      return toPlainAssistant(id, content, message);
    default:
      return undefined;
  }
}

function hasFiles({ experimental_attachments: attachments, parts }: Json): boolean {
  if (attachments !== undefined && attachments !== null) return true;
  if (!Array.isArray(parts)) return false;
  return parts.some((part) => isRecord(part) && part.type === "file");
}

function toPlainAssistant(id: string, text: string, message: Json): PlainMessage | undefined {
  const { parts, toolInvocations, reasoning } = message;
  if (Array.isArray(parts) && parts.length > 0) {
    const part = onlyTextPart(parts);
    return part && { id, role: "assistant", content: part.text as string };
  }
  if (toolInvocations !== undefined || reasoning !== undefined) return undefined;
  return { id, role: "assistant", content: text };
}
