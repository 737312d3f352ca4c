import { crc32, deflateSync } from "node:zlib";

// Seven rows of five dots each, the leftmost dot the highest bit.
const glyphs: Record<string, readonly number[]> = {
  A: [14, 17, 17, 31, 17, 17, 17],
  B: [30, 17, 17, 30, 17, 17, 30],
  C: [14, 17, 16, 16, 16, 17, 14],
  D: [30, 17, 17, 17, 17, 17, 30],
  E: [31, 16, 16, 30, 16, 16, 31],
  F: [31, 16, 16, 30, 16, 16, 16],
  H: [17, 17, 17, 31, 17, 17, 17],
  K: [17, 18, 20, 24, 20, 18, 17],
  L: [16, 16, 16, 16, 16, 16, 31],
  M: [17, 27, 21, 21, 17, 17, 17],
  N: [17, 25, 21, 19, 17, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  P: [30, 17, 17, 30, 16, 16, 16],
  R: [30, 17, 17, 30, 20, 18, 17],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  U: [17, 17, 17, 17, 17, 17, 14],
  W: [17, 17, 17, 21, 21, 27, 17],
  " ": [0, 0, 0, 0, 0, 0, 0],
};

/** A PNG with a line of capital letters, black on white, smooth as a screenshot has them. */
export function drawText(text: string, dot = 6): Uint8Array {
  const margin = 6;
  const columns = text.length * 7 + 2 * margin;
  const isBlack = (column: number, row: number): number => {
    const at = column - margin;
    const glyph = glyphs[text[Math.floor(at / 7)] ?? " "]?.[row - margin] ?? 0;
    return at >= 0 && at % 7 < 5 ? (glyph >> (4 - (at % 7))) & 1 : 0;
  };
  const width = columns * dot;
  const height = (7 + 2 * margin) * dot;
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      // Between the four dots around it, so that there are slopes in place of stairs.
      const [u, v] = [x / dot - 0.5, y / dot - 0.5];
      const [column, row] = [Math.floor(u), Math.floor(v)];
      const [right, down] = [u - column, v - row];
      const upper = isBlack(column, row) * (1 - right) + isBlack(column + 1, row) * right;
      const lower = isBlack(column, row + 1) * (1 - right) + isBlack(column + 1, row + 1) * right;
      const ink = Math.min(1, Math.max(0, (upper * (1 - down) + lower * down - 0.3) * 3));
      rows[y * (width + 1) + 1 + x] = 255 - Math.round(ink * 255);
    }
  }
  return makePng(width, height, deflateSync(rows));
}

/** A grey PNG with these dimensions in its head, and whatever data. */
export function makePng(width: number, height: number, data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      chunk("IHDR", header),
      chunk("IDAT", data),
      chunk("IEND", Buffer.alloc(0)),
    ]),
  );
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.byteLength);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
