import { isRecord } from "./threads-events.ts";
import { maxMessage } from "./threads-schemas.ts";
import type { DecodedThreadChat } from "./threads-decode.ts";
import { toThreadId } from "./threads-settings.ts";
import type { ThreadIdFormat } from "./threads-settings.ts";

/**
 * Fast path for the body of `POST /chat` with only a message and perhaps a thread, which is nearly every
 * one. Returns undefined to fall back to the schema, which reports errors.
 */
export function decodePlainChat(
  body: unknown,
  idFormat: ThreadIdFormat,
): DecodedThreadChat | undefined {
  if (!isRecord(body) || !hasOnlyMembers(body)) return undefined;
  const { message, thread_id: given, stream = true } = body;
  if (typeof message !== "string" || typeof stream !== "boolean") return undefined;
  if (message.length > maxMessage || message.trim() === "") return undefined;
  const isNamed = given !== undefined && given !== null;
  const threadId = typeof given === "string" ? toThreadId(given, idFormat) : undefined;
  if (isNamed && threadId === undefined) return undefined;
  return { message, thread_id: threadId, stream, metadata: {}, tools: [] };
}

function hasOnlyMembers(body: Readonly<Record<string, unknown>>): boolean {
  for (const key of Object.keys(body)) {
    if (key !== "message" && key !== "thread_id" && key !== "stream") return false;
  }
  return true;
}
