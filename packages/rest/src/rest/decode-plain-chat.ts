import type { ChatBounds } from "./chat-schemas.ts";
import { idRules } from "../shared/ids.ts";

/** A request that has a message and perhaps a session. */
export interface PlainChat {
  readonly message: string;
  readonly sessionId: string | undefined;
}

/**
 * Fast path for well-formed input, which is nearly every request: a message and perhaps a session. Returns
 * undefined to fall back to the schema, which reports errors.
 */
export function decodePlainChat(
  body: unknown,
  { messageChars, idFormat }: Pick<ChatBounds, "messageChars" | "idFormat">,
): PlainChat | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  for (const key in body) if (key !== "message" && key !== "session_id") return undefined;
  const { message, session_id: id } = body as { message?: unknown; session_id?: unknown };
  if (typeof message !== "string" || !/\S/.test(message)) return undefined;
  // In units, of which there are at least as many as code points.
  if (message.length > messageChars) return undefined;
  if (id === undefined || id === null) return { message, sessionId: undefined };
  if (typeof id !== "string" || !idRules[idFormat].isId(id)) return undefined;
  return { message, sessionId: id };
}
