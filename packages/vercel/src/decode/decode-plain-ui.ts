import { isOpaqueId } from "@holodeck/agui-core";
import { isMessageId, isRecord, own } from "@holodeck/agui-core/internal";
import type { Json, Message } from "@holodeck/agui-core";
import type { DecodedChat, DecodeOptions } from "./decoded-chat.ts";
import { onlyTextPart, readEach, readOwnMembers, toPlainChat } from "./plain-envelope.ts";

/**
 * Fast path for what `useChat` of AI SDK 5 to 7 sends in an ordinary chat, which is nearly every request:
 * its id, a list of text messages that ends with the user's, and custom members. Returns undefined to fall
 * back to the full decoder, which reports errors.
 */
export function decodePlainUi(
  body: Json,
  { runId, limits }: DecodeOptions,
): DecodedChat | undefined {
  const { id: threadId, messages: sent } = body;
  if (!isOpaqueId(threadId) || !Array.isArray(sent)) return undefined;
  const forwardedProps = readOwnMembers(body);
  if (forwardedProps === undefined) return undefined;
  const last = sent.length - 1;
  const messages = readEach(sent, limits.messages, (message, index) =>
    toPlainMessage(message, limits.messageChars, index === last),
  );
  return messages && toPlainChat({ threadId, runId, messages, forwardedProps });
}

function toPlainMessage(message: unknown, maxChars: number, isLast: boolean): Message | undefined {
  if (!isRecord(message)) return undefined;
  const { id, role, parts } = message;
  if (!isMessageId(id) || !Array.isArray(parts)) return undefined;
  switch (role) {
    case "user":
    case "system": {
      const content = textOf(parts);
      const isTooLong = isLast && content !== undefined && content.length > maxChars;
      return content === undefined || isTooLong ? undefined : { id, role, content };
    }
    case "assistant":
      // The last one is continued.
      return isLast ? undefined : toPlainAssistant(id, parts, message.metadata);
    default:
      return undefined;
  }
}

function textOf(parts: readonly unknown[]): string | undefined {
  let content: string | undefined;
  for (const part of parts) {
    if (!isRecord(part) || part.type !== "text" || typeof part.text !== "string") return undefined;
    content = content === undefined ? part.text : `${content}\n${part.text}`;
  }
  return content;
}

function toPlainAssistant(
  messageId: string,
  parts: readonly unknown[],
  metadata: unknown,
): Message | undefined {
  const part = onlyTextPart(parts);
  if (part === undefined || aguiOf(metadata) !== undefined) return undefined;
  const origin = aguiOf(part.providerMetadata) ?? {};
  if (!isRecord(origin) || origin.name !== undefined || origin.subagentRunId !== undefined) {
    return undefined;
  }
  const id = isMessageId(origin.messageId) ? origin.messageId : messageId;
  return { id, role: "assistant", content: part.text as string };
}

/** What this server has put into metadata. */
function aguiOf(metadata: unknown): unknown {
  return isRecord(metadata) ? own(metadata, "agui") : undefined;
}
