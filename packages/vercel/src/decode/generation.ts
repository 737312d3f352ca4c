import { isRecord, own } from "@holodeck/agui-core/internal";

/** Whether a body is a chat request of the AI SDK, of whichever generation. */
export function isChatBody(body: unknown): boolean {
  if (!isRecord(body)) return false;
  if (Array.isArray(own(body, "messages")) || isRecord(own(body, "message"))) return true;
  return typeof own(body, "prompt") === "string";
}

/** Whether a body comes from AI SDK 5 or later; before it, messages had `content`. */
export function isUiBody(body: Record<string, unknown>): boolean {
  if (typeof own(body, "trigger") === "string") return true;
  const messages = own(body, "messages") ?? [own(body, "message")];
  if (!Array.isArray(messages) || messages.length === 0) return own(body, "prompt") === undefined;
  const records = messages.filter(isRecord);
  if (records.length === 0) return own(body, "prompt") === undefined;
  return !records.some((message) => "content" in message || "toolInvocations" in message);
}
