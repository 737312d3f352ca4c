import type { ByteLine } from "./lines.ts";

// Offset, two spaces, three characters for each byte, a space and the readable column.
const wide = 8 + 2 + 16 * 3 + 1 + 16;

/** Bytes as hexadecimal numbers with their readable characters; 16 per line, 8 where it is narrow. */
export function hexLines(bytes: Uint8Array, columns: number): ByteLine[] {
  const width = columns >= wide ? 16 : 8;
  const lines: ByteLine[] = [];
  for (let offset = 0; offset < bytes.length; offset += width) {
    const row = [...bytes.subarray(offset, offset + width)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    lines.push({
      kind: "hex",
      text: `${offset.toString(16).padStart(8, "0")}  ${hex.padEnd(width * 3 - 1)}`,
      ascii: row.map(readable).join(""),
    });
  }
  return lines;
}

/** A hex dump as text, to copy. */
export function toHexDump(bytes: Uint8Array): string {
  return hexLines(bytes, wide)
    .map(({ text, ascii }) => `${text}  |${ascii}|`)
    .join("\n");
}

function readable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : ".";
}
