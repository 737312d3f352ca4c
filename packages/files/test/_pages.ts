import { randomBytes } from "node:crypto";
import { constants, deflateRawSync } from "node:zlib";

const MiB = 1024 * 1024;

/** Objects as a PDF, numbered from 1; the first is its catalog. */
export function toPdf(objects: readonly Buffer[]): Uint8Array {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.from(`${at + 1} 0 obj\n`));
    add(object);
    add(Buffer.from("\nendobj\n"));
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const start = length;
  add(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}

/** A stream object. */
export function toStream(content: Uint8Array, entries = ""): Buffer {
  const head = Buffer.from(`<< /Length ${content.byteLength} ${entries} >>\nstream\n`);
  return Buffer.concat([head, content, Buffer.from("\nendstream")]);
}

const words =
  "while ten long reports are read nobody else on this server has to wait for them".split(" ");

/** A report as scanners and offices make them: a photo and some lines of text on every page. */
export function makeReport(
  title: string,
  { pages, bytes }: { pages: number; bytes: number },
): Uint8Array {
  const font = 3;
  const side = Math.ceil(Math.sqrt(bytes / pages));
  const kids = Array.from({ length: pages }, (_, page) => `${4 + 3 * page} 0 R`);
  const objects: Buffer[] = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Count ${pages} /Kids [${kids.join(" ")}] >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
  ];
  const photo = randomBytes(side * side);
  for (let page = 0; page < pages; page++) {
    const [contents, image] = [5 + 3 * page, 6 + 3 * page];
    const lines = [`${title}, page ${page + 1} of ${pages}.`];
    for (let line = 0; line < 8; line++) {
      lines.push(
        Array.from(words, (_, at) => words[(at * (line + 3) + page) % words.length])
          .join(" ")
          .slice(0, 50),
      );
    }
    const text = lines.map((line) => `(${line}) Tj 0 -14 Td`).join("\n");
    // No two photos are the same.
    photo.writeUInt32LE(page, 0);
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${contents} 0 R /Resources << /Font << /F1 ${font} 0 R >> /XObject << /P ${image} 0 R >> >> >>`,
      ),
      toStream(Buffer.from(`q 200 0 0 200 40 40 cm /P Do Q\nBT /F1 10 Tf 40 800 Td\n${text}\nET`)),
      toStream(
        Buffer.from(photo),
        `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceGray /BitsPerComponent 8`,
      ),
    );
  }
  return toPdf(objects);
}

/** A PDF that claims a million pages: the branches of its tree are all the same, six levels of ten. */
export function millionPages(text = "page here"): Uint8Array {
  const levels = 6;
  const objects = [`<< /Type /Catalog /Pages 2 0 R >>`];
  for (let level = 0; level < levels; level++) {
    const kids = `${level + 3} 0 R `.repeat(10);
    objects.push(`<< /Type /Pages /Count ${10 ** (levels - level)} /Kids [${kids}] >>`);
  }
  const words = text === "" ? " " : `BT /F1 12 Tf 10 100 Td (${text}) Tj ET`;
  const font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>";
  objects.push(
    `<< /Type /Page /MediaBox [0 0 200 200] /Resources ${font} /Contents ${levels + 3} 0 R >>`,
    `<< /Length ${words.length} >>\nstream\n${words}\nendstream`,
  );
  return toPdf(objects.map((text) => Buffer.from(text)));
}

/** Packed content, so many times: a block that stands alone can be there as often as one likes. */
export function repeated(content: Buffer, times: number): Buffer[] {
  const block = deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH, level: 9 });
  return Array.from({ length: times }, () => block);
}

/** A small PDF whose only page unpacks to so many bytes. */
export function pdfBomb(size: number): Uint8Array {
  const blocks = repeated(Buffer.alloc(MiB, " "), size / MiB);
  const packed = Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([3, 0])]);
  return toPdf([
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [3 0 R] >>"),
    Buffer.from("<< /Type /Page /MediaBox [0 0 9 9] /Parent 2 0 R /Contents 4 0 R >>"),
    toStream(packed, "/Filter /FlateDecode"),
  ]);
}
