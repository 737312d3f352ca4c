import type { Message } from "@ag-ui/core";

/** What a user writes. */
export type QuestionContent = Extract<Message, { role: "user" }>["content"];

/** The name of a thread, from its first question. */
export function titleOf(content: QuestionContent): string {
  const text =
    typeof content === "string"
      ? content
      : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || "Files";
}
