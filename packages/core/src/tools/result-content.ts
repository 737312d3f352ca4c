import type { ContentPart } from "@ag-ui/core";

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
