import { toPdf, toStream } from "./_pages.ts";

/** A PDF of a page with a word, in a font that claims to have so many characters. */
export function fontBomb(characters: number): Uint8Array {
  const font = toFont({
    cmap: toBytes([0, 2], [1, 2], [3, 2], [1, 2], [12, 4], ...groups(characters)),
    head: Buffer.concat([toBytes([0x10000, 4], [0x10000, 4], [0, 4], [0x5f0f3cf5, 4]), empty(38)]),
    hhea: Buffer.concat([toBytes([0x10000, 4]), empty(30), toBytes([1, 2])]),
    hmtx: toBytes([500, 2], [0, 2]),
    maxp: Buffer.concat([toBytes([0x10000, 4], [1, 2]), empty(26)]),
    loca: empty(4),
    glyf: empty(4),
  });
  const described = "/Type /FontDescriptor /FontName /Large /Flags 32 /FontFile2 6 0 R";
  const resources = "<< /Font << /F1 4 0 R >> >>";
  return toPdf([
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [3 0 R] >>"),
    Buffer.from(
      `<< /Type /Page /MediaBox [0 0 200 200] /Parent 2 0 R /Contents 7 0 R /Resources ${resources} >>`,
    ),
    Buffer.from(
      "<< /Type /Font /Subtype /TrueType /BaseFont /Large /FirstChar 65 /LastChar 65 /Widths [500] /Encoding /WinAnsiEncoding /FontDescriptor 5 0 R >>",
    ),
    Buffer.from(`<< ${described} /FontBBox [0 0 500 500] /ItalicAngle 0 /Ascent 500 /Descent 0 >>`),
    toStream(font, `/Length1 ${font.length}`),
    toStream(Buffer.from("BT /F1 12 Tf 10 100 Td (AAAA) Tj ET")),
  ]);
}

type Field = readonly [value: number, bytes: 2 | 4];

// One range of characters, in the format for those beyond 16 bits.
function groups(characters: number): Field[] {
  return [
    [12, 2],
    [0, 2],
    [28, 4],
    [0, 4],
    [1, 4],
    [0, 4],
    [characters - 1, 4],
    [0, 4],
  ];
}

function toFont(tables: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(tables);
  const head = toBytes([0x10000, 4], [entries.length, 2], [0, 2], [0, 2], [0, 2]);
  let offset = head.length + 16 * entries.length;
  const directory = entries.map(([tag, { length }]) => {
    const entry = Buffer.concat([Buffer.from(tag), toBytes([0, 4], [offset, 4], [length, 4])]);
    offset += length;
    return entry;
  });
  return Buffer.concat([head, ...directory, ...Object.values(tables)]);
}

function toBytes(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntBE(value, 0, bytes);
      return field;
    }),
  );
}

function empty(bytes: number): Buffer {
  return Buffer.alloc(bytes);
}
