import type { ByteLine } from "./lines.ts";

const ends: Readonly<Record<string, string>> = { "\r\n": "␍␊", "\n": "␊", "\r": "␍" };
const minColumns = 20;

/** Text with its line ends to be seen; long lines are broken to fit. */
export function textLines(bytes: Uint8Array, columns: number): ByteLine[] {
  const width = Math.max(columns - 2, minColumns);
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

/** Control characters as the pictures that Unicode has of them. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, (char) =>
    char === "\u007f" ? "␡" : String.fromCodePoint(0x2400 + char.codePointAt(0)!),
  );
}

function split(text: string, width: number): string[] {
  const chars = Array.from(text);
  if (chars.length <= width) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < chars.length; at += width)
    pieces.push(chars.slice(at, at + width).join(""));
  return pieces;
}
