import type { Message, RunAgentInput, RunContext } from "@holodeck/agui";

/** A file that came with the question. */
export interface AskedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  /** What `extractFiles` read in it; nothing for an image. */
  readonly text: string | undefined;
}

/** The last user message, without the text of the files below it. */
export interface Question {
  readonly text: string;
  readonly files: readonly AskedFile[];
}

export function readQuestion({ messages }: RunAgentInput, context: RunContext): Question {
  const last = messages.findLast(({ role }) => role === "user");
  const names = new Set(context.files.map(({ name }) => name));
  const [text, ...blocks] = splitBlocks(textOf(last), names);
  const read = new Map(blocks.map(toBlock));
  const count = blocks.length + countParts(last);
  // Those of the whole conversation are there, in its order.
  const files = count === 0 ? [] : context.files.slice(-count);
  return {
    text: (text ?? "").trim(),
    files: files.map(({ name, mimeType, size }) => ({
      name,
      mimeType,
      size,
      text: read.get(name),
    })),
  };
}

function textOf(message: Message | undefined): string {
  return partsOf(message)
    .map(({ text }) => text ?? "")
    .join("");
}

function countParts(message: Message | undefined): number {
  return partsOf(message).filter(({ type }) => type !== "text").length;
}

function partsOf(message: Message | undefined): readonly { type?: string; text?: string }[] {
  const content: unknown = message?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [];
}

// A heading that names no file belongs to the text above it.
function splitBlocks(text: string, names: ReadonlySet<string>): string[] {
  const blocks: string[] = [];
  for (const block of text.split(/^## File: /m)) {
    const isFile = blocks.length > 0 && names.has(toBlock(block)[0]);
    if (isFile || blocks.length === 0) blocks.push(block);
    else blocks.push(`${blocks.pop()}## File: ${block}`);
  }
  return blocks;
}

function toBlock(block: string): [name: string, text: string] {
  const end = block.indexOf("\n");
  return end < 0 ? [block, ""] : [block.slice(0, end), block.slice(end + 1).trimEnd()];
}
