import { constants, deflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import { PDFDocument } from "pdf-lib";
import { afterAll, expect, test } from "vitest";
import { makeDocx, makePdf } from "./_make.ts";
import { serveEcho, textOf, types, ways } from "./_serve.ts";
import type { Sent } from "./_serve.ts";

const MiB = 1024 * 1024;
const { handler, seen } = serveEcho();
afterAll(() => handler.close());

async function send(file: Sent): Promise<{ status: number; detail?: string }> {
  const response = await handler.fetch(ways["REST with a form"]!("Read it", [file]));
  return { ...((await response.json()) as object), status: response.status };
}

test("refuses a small zip with gigabytes in it, and does not grow by them", async () => {
  // Eight megabytes that are named 500 times in the directory, and are there once.
  const more = { "word/media/a.bin": new Uint8Array(8 * MiB) };
  const bytes = overlapping(makeDocx({ text: "x", more }), 500);
  expect(bytes.byteLength).toBeLessThan(MiB);
  const before = process.memoryUsage().rss;
  const answer = await send({ name: "bomb.docx", mimeType: types.docx, bytes });
  expect(answer).toMatchObject({
    status: 413,
    detail: '"bomb.docx" takes too much memory to read.',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * MiB);
});

test("refuses a zip that lies about what is in it", async () => {
  const own = serveEcho({ inflatedBytes: 4 * MiB });
  const honest = zipSync({ "word/document.xml": new Uint8Array(5 * MiB) });
  const bytes = Buffer.from(honest);
  // The claim of ten bytes, in the directory and before the data.
  bytes.writeUInt32LE(10, bytes.indexOf("PK\x01\x02") + 24);
  bytes.writeUInt32LE(10, 22);
  const file = { name: "liar.docx", mimeType: types.docx, bytes: new Uint8Array(bytes) };
  const response = await own.handler.fetch(ways["REST with a form"]!("Read it", [file]));
  expect(await response.json()).toMatchObject({ status: 413 });
  await own.handler.close();
});

test("reads what it can of a PDF that claims a million pages", async () => {
  const file = { name: "endless.pdf", mimeType: types.pdf, bytes: millionPages() };
  const own = serveEcho({}, { limits: { messageChars: 500 } });
  const response = await own.handler.fetch(ways["REST with a form"]!("Read it", [file]));
  expect(response.status, await response.clone().text()).toBe(200);
  await response.text();
  expect(textOf(own.seen.messages.at(-1)!)).toMatch(/page here[^]*\[… truncated\]$/);
  await own.handler.close();
});

test("refuses a PDF that unpacks to more than memory may grow by", async () => {
  const own = serveEcho({ memoryBytes: 128 * MiB });
  const file = { name: "bomb.pdf", mimeType: types.pdf, bytes: pdfBomb(1024 * MiB) };
  expect(file.bytes.byteLength).toBeLessThan(2 * MiB);
  const response = await own.handler.fetch(ways["REST with a form"]!("Read it", [file]));
  expect(await response.json()).toMatchObject({
    status: 413,
    detail: '"bomb.pdf" takes too much memory to read.',
  });
  await own.handler.close();
});

test("gives up on a file that takes too long", async () => {
  const own = serveEcho({ timeoutMs: 1 });
  const bytes = await longPdf(300);
  const slow = await own.handler.fetch(
    ways["REST with a form"]!("Read it", [{ name: "slow.pdf", mimeType: types.pdf, bytes }]),
  );
  expect(await slow.json()).toMatchObject({
    status: 413,
    detail: '"slow.pdf" takes too long to read.',
  });
  await own.handler.close();
});

test("reads the next file after one that broke its reader", async () => {
  expect(
    await send({
      name: "a.pdf",
      mimeType: types.pdf,
      bytes: new TextEncoder().encode("%PDF-1.7 no"),
    }),
  ).toMatchObject({ status: 400 });
  expect(
    await send({ name: "b.pdf", mimeType: types.pdf, bytes: await makePdf("Fine") }),
  ).toMatchObject({ status: 200 });
  expect(textOf(seen.messages.at(-1)!)).toContain("Fine");
});

async function longPdf(pages: number): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  for (let at = 0; at < pages; at++) pdf.addPage().drawText(`${at}`);
  return pdf.save();
}

// Every entry of the directory leads to the same bytes: small files of a kind that fools who adds up
// what stands in the archive itself.
function overlapping(zip: Uint8Array, times: number): Uint8Array {
  const bytes = Buffer.from(zip);
  const end = bytes.lastIndexOf("PK\x05\x06");
  const start = bytes.readUInt32LE(end + 16);
  const directory = bytes.subarray(start, end);
  let at = 0;
  while (
    !directory
      .subarray(at + 46)
      .toString("latin1")
      .startsWith("word/media/a.bin")
  ) {
    at = directory.indexOf("PK\x01\x02", at + 4);
  }
  const next = directory.indexOf("PK\x01\x02", at + 4);
  const entry = directory.subarray(at, next < 0 ? undefined : next);
  const more = Array.from({ length: times }, (_, index) => {
    const copy = Buffer.from(entry);
    copy.write(String(index).padStart(3, "0"), 46, "latin1");
    return copy;
  });
  const tail = Buffer.from(bytes.subarray(end));
  const count = tail.readUInt16LE(10) + times;
  tail.writeUInt16LE(count, 8);
  tail.writeUInt16LE(count, 10);
  const whole = Buffer.concat([bytes.subarray(0, end), ...more, tail]);
  whole.writeUInt32LE(directory.byteLength + more.length * entry.byteLength, whole.length - 10);
  return new Uint8Array(whole);
}

// A page tree whose branches are all the same: six levels of ten.
function millionPages(): Uint8Array {
  const levels = 6;
  const objects = [`<< /Type /Catalog /Pages 2 0 R >>`];
  for (let level = 0; level < levels; level++) {
    const kids = `${level + 3} 0 R `.repeat(10);
    objects.push(`<< /Type /Pages /Count ${10 ** (levels - level)} /Kids [${kids}] >>`);
  }
  const words = "BT /F1 12 Tf 10 100 Td (page here) Tj ET";
  const font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>";
  objects.push(
    `<< /Type /Page /MediaBox [0 0 200 200] /Resources ${font} /Contents ${levels + 3} 0 R >>`,
    `<< /Length ${words.length} >>\nstream\n${words}\nendstream`,
  );
  return toPdf(objects.map((text) => Buffer.from(text)));
}

function pdfBomb(size: number): Uint8Array {
  // A block that stands alone can be there as often as one likes.
  const finishFlush = constants.Z_FULL_FLUSH;
  const block = deflateRawSync(Buffer.alloc(MiB, " "), { finishFlush });
  const blocks = Array.from({ length: size / MiB }, () => block);
  const packed = Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([3, 0])]);
  return toPdf([
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [3 0 R] >>"),
    Buffer.from("<< /Type /Page /MediaBox [0 0 9 9] /Parent 2 0 R /Contents 4 0 R >>"),
    Buffer.concat([
      Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
      packed,
      Buffer.from("\nendstream"),
    ]),
  ]);
}

function toPdf(objects: readonly Buffer[]): Uint8Array {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]));
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
