import { toBase64 } from "@holodeck/agui-core/internal";
import type { InputFile, Message } from "@holodeck/agui-core";

type UserContent = Extract<Message, { role: "user" }>["content"];
type ContentPart = Exclude<UserContent, string>[number];

export interface ComposeMessageOptions {
  /** UTF-16 units of text, including files; longer text is truncated and marked. */
  readonly maxChars: number;
  /** Bytes of images and documents inside the message. The others are in `context.files` only. */
  readonly inlineBytes: number;
  /** Called when the text was truncated. */
  readonly onTruncate?: (() => void) | undefined;
}

/**
 * A message and its files as the agent receives them: text files as `## File: name` below the
 * message, images and documents as content parts.
 *
 * @example
 * ```ts
 * rest({ composeMessage: (message, files, limits) => composeMessage(message, files.slice(0, 1), limits) });
 * ```
 */
export async function composeMessage(
  message: string,
  files: readonly InputFile[],
  options: ComposeMessageOptions,
): Promise<UserContent> {
  const blocks: string[] = [];
  const parts: ContentPart[] = [];
  let room = options.inlineBytes;
  for (const file of files) {
    const { name, mimeType, size } = file;
    if (mimeType.startsWith("text/")) {
      // Decoding more than can be kept is useless; a character has at most four bytes.
      const bytes = (await file.bytes()).subarray(0, 4 * options.maxChars + 4);
      blocks.push(`## File: ${name}\n${new TextDecoder().decode(bytes)}`);
    } else if (size > room) {
      blocks.push(`## File: ${name}\n[${mimeType}, ${size} bytes]`);
    } else {
      room -= size;
      const value = toBase64(await file.bytes());
      parts.push({
        type: mimeType.startsWith("image/") ? "image" : "document",
        source: { type: "data", value, mimeType },
        metadata: { filename: name },
      });
    }
  }
  const text = blocks.length === 0 ? message : `${message}\n\n${blocks.join("\n")}`;
  const cut = truncate(text, options.maxChars);
  if (cut !== text) options.onTruncate?.();
  return parts.length === 0 ? cut : [{ type: "text", text: cut }, ...parts];
}

const marker = "\n\n[… truncated]";

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, Math.max(0, maxChars - marker.length));
  // Half a character is none.
  return kept.replace(/[\uD800-\uDBFF]$/, "") + marker;
}
