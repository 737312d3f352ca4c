import { EventType } from "@ag-ui/core";
import type { BaseEvent, ContentPart } from "@ag-ui/core";
import { ulid } from "../base/ids.ts";
import type { Emit } from "../contract/context.ts";
import type { AgentError } from "../contract/errors.ts";

/** What a call came to. */
interface CallResult {
  readonly result?: unknown;
  /** In place of the result. */
  readonly error?: AgentError;
  /** How long the tool took; only who ran it knows. */
  readonly ms?: number | undefined;
}

/** Sends the result of a call, and returns it as it is sent. */
export async function sendResult(
  emit: Emit,
  toolCallId: string,
  { result, error, ms }: CallResult,
): Promise<BaseEvent> {
  const code = error?.code;
  const content = error ? { error: { code, message: error.message } } : toContent(result);
  const event: BaseEvent = {
    type: EventType.TOOL_CALL_RESULT,
    messageId: ulid(),
    toolCallId,
    content: toResultContent(content),
    role: "tool",
  };
  if (ms !== undefined || code !== undefined) {
    event.metadata = {
      ...(ms === undefined ? {} : { executionTimeMs: ms }),
      // AG-UI has no field for it, and clients should not have to guess from the content.
      ...(code === undefined ? {} : { error: code }),
    };
  }
  await emit.event(event);
  return event;
}

/** A tool's result as TOOL_CALL_RESULT carries it: text and content parts as they are, the rest as JSON. */
export function toResultContent(content: unknown): string | ContentPart[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content) && content.length > 0 && content.every(isContentPart)) return content;
  return JSON.stringify(content) ?? "";
}

function isContentPart(value: unknown): value is ContentPart {
  const { type, text, source } = (value ?? {}) as {
    type?: unknown;
    text?: unknown;
    source?: unknown;
  };
  if (type === "text") return typeof text === "string";
  const isMedia = type === "image" || type === "audio" || type === "video" || type === "document";
  return isMedia && typeof source === "object" && source !== null;
}

// Content parts stay what they are; everything else is sent as JSON.
function toContent(result: unknown): string | object {
  if (typeof result === "string") return result;
  return typeof result === "object" && result !== null
    ? result
    : (JSON.stringify(result) ?? "null");
}
