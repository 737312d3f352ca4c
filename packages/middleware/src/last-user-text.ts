import type { Message } from "@holodeck/agui-core";

/** What the user said last, as text; empty when that was no text. */
export function lastUserText(messages: readonly Message[]): string {
  const content: unknown = messages.filter(({ role }) => role === "user").at(-1)?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: { type?: unknown; text?: unknown }) =>
      part.type === "text" && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
}
