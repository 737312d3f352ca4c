import type { ByteLine } from "./lines.ts";

// Not the pictures that Unicode has of them: hardly a font has these.
const ends: Readonly<Record<string, string>> = {
  "\r\n": String.raw`\r\n`,
  "\n": String.raw`\n`,
  "\r": String.raw`\r`,
};
// Room for how a line ends.
const markColumns = 4;
const minColumns = 20;

/** Text with its line ends to be seen; long lines are broken to fit. */
export function textLines(bytes: Uint8Array, columns: number): ByteLine[] {
  const width = Math.max(columns - markColumns, minColumns);
  const lines: ByteLine[] = [];
  for (const [, line = "", end = ""] of decode(bytes).matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (line === "" && end === "") continue;
    const pieces = split(visible(line), width);
    for (const [index, text] of pieces.entries()) {
      const mark = index < pieces.length - 1 ? "↩" : ends[end];
      lines.push({ kind: "text", text, ...(mark !== undefined && { end: mark }) });
    }
  }
  return lines;
}

// Not the mark of a byte order: what came is to be seen.
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Control characters as JSON would write them. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, (char) => {
    const code = char.codePointAt(0)!.toString(16).padStart(4, "0");
    return char === "\t" ? String.raw`\t` : String.raw`\u${code}`;
  });
}

function split(text: string, width: number): string[] {
  const chars = Array.from(text);
  if (chars.length <= width) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < chars.length; at += width)
    pieces.push(chars.slice(at, at + width).join(""));
  return pieces;
}
