import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zipSync } from "fflate";
import { PDFDocument } from "pdf-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDocx, makePdf, makePptx, makeXlsx } from "./_make.ts";
import { millionPages, pdfBomb, repeated } from "./_pages.ts";
import { makePng } from "./_png.ts";
import { serveEcho, textOf, types, ways, patience } from "./_serve.ts";
import type { Echo, Sent } from "./_serve.ts";

const KiB = 1024;
const MiB = KiB * KiB;
const tempDir = await mkdtemp(join(tmpdir(), "bombs-test-"));
const { handler, seen } = serveEcho({ tempDir });
beforeAll(async () => {
  // The thread and its readers are there before memory is looked at.
  await send({ name: "a.pdf", mimeType: types.pdf, bytes: await makePdf("Fine") });
  await send({ name: "a.docx", mimeType: types.docx, bytes: makeDocx({ text: "Fine" }) });
});
afterAll(async () => {
  await handler.close();
  await rm(tempDir, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly detail?: string;
}

async function send(
  file: Sent,
  own: Pick<Echo, "handler"> = { handler },
  way = "REST with a form",
): Promise<Answer> {
  const response = await own.handler.fetch(ways[way]!("Read it", [file]));
  const text = await response.text();
  const body = response.headers.get("content-type")?.includes("json")
    ? (JSON.parse(text) as object)
    : {};
  return { ...body, status: response.status };
}

// What comes and goes between two looks is found, too, if it takes longer than a few milliseconds.
async function watched(
  work: () => Promise<Answer>,
): Promise<Answer & { rss: number; heap: number }> {
  const before = process.memoryUsage();
  let [rss, heap] = [0, 0];
  const look = (): void => {
    const now = process.memoryUsage();
    rss = Math.max(rss, now.rss - before.rss);
    heap = Math.max(heap, now.heapUsed - before.heapUsed);
  };
  const looking = setInterval(look, 5);
  try {
    const answer = await work();
    look();
    return { ...answer, rss, heap };
  } finally {
    clearInterval(looking);
  }
}

// The heap of the server itself sees nothing of it; the process as a whole a part of what is allowed.
function expectBounded({ rss, heap }: { rss: number; heap: number }, most = 512 * MiB): void {
  expect(rss).toBeLessThan(most);
  expect(heap).toBeLessThan(100 * MiB);
}

const kernel = { "media/a.bin": new Uint8Array(36 * MiB) };
const packages: readonly Sent[] = [
  { name: "bomb.docx", mimeType: types.docx, bytes: makeDocx({ text: "x" }) },
  { name: "bomb.xlsx", mimeType: types.xlsx, bytes: makeXlsx({ One: [["x"]] }) },
  { name: "bomb.pptx", mimeType: types.pptx, bytes: makePptx([{ title: "x", lines: [] }]) },
];
const bombs = packages.map((file) => ({
  ...file,
  bytes: overlapping(joined(file.bytes, zipSync(kernel, { level: 9 })), 114),
}));

describe.each(bombs)("42 kB with 4 GB in them as $name", (file) => {
  test("are refused by name, without the memory they ask for", async () => {
    expect(file.bytes.byteLength).toBeLessThan(50 * KiB);
    const answer = await watched(() => send(file));
    expect(answer).toMatchObject({
      status: 413,
      code: "payload-too-large",
      detail: `"${file.name}" takes too much memory to read.`,
    });
    expectBounded(answer);
    await expect.poll(() => readdir(tempDir), patience).toEqual([]);
  });
});

test.each(Object.keys(ways))("a bomb is refused to a client of %s alike", async (way) => {
  const answer = await watched(() => send(bombs[0]!, { handler }, way));
  expect(answer).toMatchObject({
    status: 413,
    code: "payload-too-large",
    detail: '"bomb.docx" takes too much memory to read.',
  });
  expectBounded(answer);
  expect(await readdir(tempDir)).toEqual([]);
});

test("a zip in a zip is not opened: only the outer one counts", async () => {
  const inner = zipSync({ "zeros.bin": new Uint8Array(64 * MiB) });
  const bytes = makeDocx({ text: "Harmless", more: { "word/media/inner.zip": inner } });
  const answer = await watched(() => send({ name: "nested.docx", mimeType: types.docx, bytes }));
  expect(answer.status).toBe(200);
  expect(textOf(seen.messages.at(-1)!)).toContain("Harmless");
  expectBounded(answer);
});

test("refuses a zip that lies about what is in it", async () => {
  const own = serveEcho({ inflatedBytes: 4 * MiB });
  const honest = zipSync({ "word/document.xml": new Uint8Array(5 * MiB) });
  const bytes = Buffer.from(honest);
  // The claim of ten bytes, in the directory and before the data.
  bytes.writeUInt32LE(10, bytes.indexOf("PK\x01\x02") + 24);
  bytes.writeUInt32LE(10, 22);
  const file = { name: "liar.docx", mimeType: types.docx, bytes: new Uint8Array(bytes) };
  expect(await send(file, own)).toMatchObject({ status: 413 });
  await own.handler.close();
});

test("reads what it can of a PDF that claims a million pages", async () => {
  const file = { name: "endless.pdf", mimeType: types.pdf, bytes: millionPages() };
  const own = serveEcho({ tempDir }, { limits: { messageChars: 500 } });
  const answer = await watched(() => send(file, own));
  expect(answer.status).toBe(200);
  expect(textOf(own.seen.messages.at(-1)!)).toMatch(/page here[^]*\[… truncated\]$/);
  expectBounded(answer);
  await own.handler.close();
  expect(await readdir(tempDir)).toEqual([]);
});

// No machine reads its ten thousand pages in this time: a page is several messages between two threads.
test("gives up on a million pages without a word, by name and in time", async () => {
  const own = serveEcho({ tempDir, timeoutMs: 50 });
  const file = { name: "silent.pdf", mimeType: types.pdf, bytes: millionPages("") };
  const answer = await watched(() => send(file, own));
  expect(answer).toMatchObject({
    status: 413,
    code: "payload-too-large",
    detail: '"silent.pdf" takes too long to read.',
  });
  expectBounded(answer);
  await own.handler.close();
  expect(await readdir(tempDir)).toEqual([]);
});

test("reads at most ten thousand pages, and marks the text", { timeout: 600_000 }, async () => {
  const own = serveEcho({ tempDir, timeoutMs: 590_000 });
  const file = { name: "silent.pdf", mimeType: types.pdf, bytes: millionPages("") };
  const answer = await watched(() => send(file, own));
  expect(answer.status).toBe(200);
  expect(textOf(own.seen.messages.at(-1)!)).toContain("[… 990000 more pages, not read]");
  expectBounded(answer);
  await own.handler.close();
});

test("refuses a PDF that unpacks to more than memory may grow by", async () => {
  const own = serveEcho({ tempDir, memoryBytes: 128 * MiB });
  const file = { name: "bomb.pdf", mimeType: types.pdf, bytes: pdfBomb(1024 * MiB) };
  expect(file.bytes.byteLength).toBeLessThan(2 * MiB);
  const answer = await watched(() => send(file, own));
  expect(answer).toMatchObject({
    status: 413,
    code: "payload-too-large",
    detail: '"bomb.pdf" takes too much memory to read.',
  });
  // A gigabyte would be twice as much: what it grew by in one look is not taken back.
  expectBounded(answer);
  await own.handler.close();
  await expect.poll(() => readdir(tempDir), patience).toEqual([]);
});

describe("a PNG of 20,000 × 20,000 dots", () => {
  const file = { name: "vast.png", mimeType: types.png, bytes: vastPng() };

  test("is 400 MB in a file of less than one", () => {
    expect(file.bytes.byteLength).toBeLessThan(MiB);
  });

  test("is refused by name when it is to be read, and never unpacked", async () => {
    const own = serveEcho({ ocr: true, tempDir });
    const answer = await watched(() => send(file, own));
    expect(answer).toMatchObject({
      status: 413,
      code: "payload-too-large",
      detail: '"vast.png" takes too much memory to read.',
    });
    expectBounded(answer, 300 * MiB);
    await own.handler.close();
    expect(await readdir(tempDir)).toEqual([]);
  });

  test("passes through as it is when no agent reads it", async () => {
    const answer = await watched(() => send(file));
    expect(answer.status).toBe(200);
    expect(Buffer.compare(seen.bytes[0]!, file.bytes)).toBe(0);
    expectBounded(answer, 300 * MiB);
  });
});

test("gives up on a file that takes too long", async () => {
  const own = serveEcho({ timeoutMs: 1 });
  const bytes = await longPdf(300);
  expect(await send({ name: "slow.pdf", mimeType: types.pdf, bytes }, own)).toMatchObject({
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
      .startsWith("media/a.bin")
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

// White would be less of a bomb: black is all zeros. The sum at its end is right.
function vastPng(): Uint8Array {
  const side = 20_000;
  const rows = 100;
  const blocks = repeated(Buffer.alloc((side + 1) * rows), side / rows);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((((side + 1) * side) % 65_521) * 65_536 + 1);
  const data = Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([3, 0]), sum]);
  return makePng(side, side, data);
}

// Two zips as one, the second one's only file the last.
function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const [a, b] = [Buffer.from(first), Buffer.from(second)];
  const ends = [a, b].map((zip) => zip.lastIndexOf("PK\x05\x06"));
  const starts = [a.readUInt32LE(ends[0]! + 16), b.readUInt32LE(ends[1]! + 16)];
  const entry = Buffer.from(b.subarray(starts[1], ends[1]));
  entry.writeUInt32LE(starts[0]!, 42);
  const data = b.subarray(0, starts[1]);
  const directory = Buffer.concat([a.subarray(starts[0], ends[0]), entry]);
  const tail = Buffer.from(a.subarray(ends[0]));
  const count = tail.readUInt16LE(10) + 1;
  tail.writeUInt16LE(count, 8);
  tail.writeUInt16LE(count, 10);
  tail.writeUInt32LE(directory.length, 12);
  tail.writeUInt32LE(starts[0]! + data.length, 16);
  return new Uint8Array(Buffer.concat([a.subarray(0, starts[0]), data, directory, tail]));
}
