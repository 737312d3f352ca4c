import type { RunAgentInput } from "@ag-ui/core";

/**
 * The text of the user's last message: its text parts, a line each, without files. Empty when there is none.
 * `input.messages.at(-1)` may be the result of a tool.
 *
 * @example
 * ```ts
 * const agent = async (input) => `You said: ${lastUserText(input)}`;
 * ```
 */
export function lastUserText({ messages }: Pick<RunAgentInput, "messages">): string {
  let last = messages.length - 1;
  while (last >= 0 && messages[last]!.role !== "user") last--;
  const content: unknown = messages[last]?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: { type?: unknown; text?: unknown } | null) =>
      part?.type === "text" && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
}
