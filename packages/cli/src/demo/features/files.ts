import type { AskedFile } from "../question.ts";
import type { Talk } from "../talk.ts";

const quotedLines = 5;
const quotedChars = 400;

/** What came with the question: names, sizes, and how the text begins. */
export async function answerFiles({ question: { files }, say }: Talk): Promise<void> {
  await say(files.length === 1 ? "Thank you for the file. " : `You sent ${files.length} files. `);
  for (const file of files) await say(`\n\n${describe(file)}`);
}

function describe({ name, mimeType, size, text }: AskedFile): string {
  const about = `**${escape(name)}** (${escape(mimeType)}, ${size} bytes)`;
  if (text === undefined) {
    return mimeType.startsWith("image/")
      ? `${about} is an image. I cannot see images, only their size.`
      : `${about} has no text that I can read.`;
  }
  const lines = text === "" ? [] : text.split(/\r?\n/);
  const words = text.match(/\S+/g) ?? [];
  const begin = lines.slice(0, quotedLines).join("\n").slice(0, quotedChars);
  const count = `${about} has ${plural(lines.length, "line")} and ${plural(words.length, "word")}.`;
  return begin === "" ? count : `${count} It begins:\n\n${fence(begin)}`;
}

// Longer than any fence inside.
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}text\n${text}\n${ticks}\n`;
}

function escape(text: string): string {
  return text.replace(/[\\`*_[\]<>#|~]/g, "\\$&");
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
