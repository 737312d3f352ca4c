import { toBase64 } from "@holodeck/agui-core/internal";
import type { InputFile, Message } from "@holodeck/agui-core";

export type UserMessage = Extract<Message, { role: "user" }>;
export type ComposedPart = Exclude<UserMessage["content"], string>[number];

/** A file of a message, looked at. */
export interface ReadFile {
  readonly file: InputFile;
  /** The part it came in; undefined for a file uploaded with the message. */
  readonly part: ComposedPart | undefined;
  /** Undefined when the agent gets the file itself. */
  readonly text: string | undefined;
}

export interface ComposeOptions {
  readonly maxChars: number;
  /** Bytes of uploads that may be inlined in the message. */
  readonly inlineBytes: number;
  onCut(): void;
}

const marker = "\n\n[… truncated]";

/** A message with the text of its files below it; a file without text stays a separate part. */
export async function composeUserMessage(
  message: UserMessage,
  files: readonly ReadFile[],
  options: ComposeOptions,
): Promise<UserMessage> {
  const parts = typeof message.content === "string" ? [] : message.content;
  const texts =
    typeof message.content === "string"
      ? [message.content]
      : parts.flatMap((part) => (part.type === "text" ? part.text : []));
  const read = new Set(files.flatMap(({ part, text }) => (text === undefined ? [] : part)));
  const kept = parts.filter((part) => part.type !== "text" && !read.has(part));
  const blocks: string[] = [];
  let room = options.inlineBytes;
  for (const { file, part, text } of files) {
    const { name, mimeType, size } = file;
    if (text !== undefined) blocks.push(`## File: ${name}\n${text}`);
    else if (part === undefined && size <= room) {
      room -= size;
      kept.push(await toPart(file));
    } else if (part === undefined) blocks.push(`## File: ${name}\n[${mimeType}, ${size} bytes]`);
  }
  if (blocks.length === 0 && kept.every((part) => parts.includes(part))) return message;
  const words = texts.join("\n\n");
  const whole = blocks.length === 0 ? words : `${words}\n\n${blocks.join("\n")}`;
  const text = cut(whole, options.maxChars);
  if (text !== whole) options.onCut();
  const content = kept.length === 0 ? text : [{ type: "text" as const, text }, ...kept];
  return { ...message, content };
}

async function toPart(file: InputFile): Promise<ComposedPart> {
  const { name, mimeType } = file;
  return {
    type: mimeType.startsWith("image/") ? "image" : "document",
    source: { type: "data", value: toBase64(await file.bytes()), mimeType },
    metadata: { filename: name },
  };
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, Math.max(0, maxChars - marker.length));
  // Half a character is none.
  return kept.replace(/[\uD800-\uDBFF]$/, "") + marker;
}
