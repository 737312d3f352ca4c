import { strToU8, unzipSync, zipSync } from "fflate";
import { afterAll, describe, expect, test } from "vitest";
import { makeDocx, makePptx, makeXlsx } from "./_make.ts";
import { serveEcho, textOf, types, ways } from "./_serve.ts";
import type { Sent } from "./_serve.ts";

const { handler, seen } = serveEcho({ inflatedBytes: 4 * 1024 * 1024 });
afterAll(() => handler.close());

const documents: readonly Sent[] = [
  { name: "a.docx", mimeType: types.docx, bytes: makeDocx({ text: "Fine" }) },
  { name: "a.xlsx", mimeType: types.xlsx, bytes: makeXlsx({ One: [["Fine"]] }) },
  { name: "a.pptx", mimeType: types.pptx, bytes: makePptx([{ title: "Fine", lines: [] }]) },
];

interface Place {
  readonly end: number;
  readonly start: number;
  readonly entries: readonly {
    readonly at: number;
    readonly length: number;
    readonly name: string;
  }[];
}

function placeOf(zip: Buffer): Place {
  const end = zip.lastIndexOf("PK\x05\x06");
  const start = zip.readUInt32LE(end + 16);
  const entries: { at: number; length: number; name: string }[] = [];
  for (let at = start; at < end;) {
    const nameLength = zip.readUInt16LE(at + 28);
    const length = 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    entries.push({ at, length, name: zip.toString("utf8", at + 46, at + 46 + nameLength) });
    at += length;
  }
  return { end, start, entries };
}

type Change = (zip: Buffer, place: Place) => Uint8Array;

function withEntry(zip: Buffer, { end, start, entries }: Place, entry: Buffer): Uint8Array {
  const tail = Buffer.from(zip.subarray(end));
  tail.writeUInt16LE(entries.length + 1, 8);
  tail.writeUInt16LE(entries.length + 1, 10);
  tail.writeUInt32LE(end - start + entry.length, 12);
  return Buffer.concat([zip.subarray(0, end), entry, tail]);
}

const lies: Record<string, readonly [change: Change, reason: string]> = {
  "an end that counts fewer entries than there are": [
    (zip, { end, entries }) => {
      zip.writeUInt16LE(entries.length - 1, end + 8);
      zip.writeUInt16LE(entries.length - 1, end + 10);
      return zip;
    },
    "the end of its zip counts other entries than there are",
  ],
  "two entries that share their bytes": [
    (zip, place) => {
      const { at, length } = place.entries.at(-1)!;
      const copy = Buffer.from(zip.subarray(at, at + length));
      copy.write("q", 46);
      return withEntry(zip, place, copy);
    },
    "entries of its zip overlap",
  ],
  "an entry inside of another": [
    (zip, place) => {
      const { at, length } = place.entries[0]!;
      const copy = Buffer.from(zip.subarray(at, at + length));
      copy.write("q", 46);
      copy.writeUInt32LE(copy.readUInt32LE(42) + 4, 42);
      return withEntry(zip, place, copy);
    },
    "entries of its zip overlap",
  ],
  "an entry that goes beyond its place": [
    (zip, { entries }) => {
      const { at } = entries.at(-1)!;
      zip.writeUInt32LE(zip.readUInt32LE(at + 20) + 1000, at + 20);
      return zip;
    },
    "an entry of its zip is cut off",
  ],
  "an entry that has another name where it is": [
    (zip, { entries }) => {
      const { at } = entries.at(-1)!;
      zip.write("q", zip.readUInt32LE(at + 42) + 30);
      return zip;
    },
    "an entry of its zip is not what its directory lists",
  ],
  "a size that is not that of its content": [
    (zip, { entries }) => {
      for (const { at } of entries) zip.writeUInt32LE(zip.readUInt32LE(at + 24) + 1, at + 24);
      return zip;
    },
    "an entry of its zip has another size than listed",
  ],
};

async function send(file: Sent): Promise<unknown[]> {
  const response = await handler.fetch(ways["REST with a form"]!("Read it", [file]));
  const text = await response.text();
  const { detail } = (response.status === 200 ? {} : JSON.parse(text)) as { detail?: string };
  return [response.status, detail];
}

describe.each(documents)("$name is refused with", (file) => {
  test.each(Object.entries(lies))("%s", async (_, [change, reason]) => {
    const zip = Buffer.from(file.bytes);
    const bytes = new Uint8Array(change(zip, placeOf(zip)));
    expect(await send({ ...file, bytes })).toEqual([
      400,
      `"${file.name}" is damaged and cannot be read: ${reason}.`,
    ]);
  });

  test("two entries of one name", async () => {
    const parts = unzipSync(file.bytes);
    const [main] = Object.keys(parts).filter((name) =>
      /(document|workbook|presentation)\.xml$/.test(name),
    );
    // As long, so that the names can be changed in place.
    const other = main!.replace(/.$/, "X");
    const zip = Buffer.from(zipSync({ ...parts, [other]: strToU8("<a/>") }));
    for (let at = zip.indexOf(other); at >= 0; at = zip.indexOf(other, at)) zip.write(main!, at);
    expect(await send({ ...file, bytes: new Uint8Array(zip) })).toEqual([
      400,
      `"${file.name}" is damaged and cannot be read: its zip has two entries of one name.`,
    ]);
  });

  test("more in it than is unpacked, whatever it claims", async () => {
    const parts = unzipSync(file.bytes);
    const [main] = Object.keys(parts).filter((name) =>
      /(document|workbook|presentation)\.xml$/.test(name),
    );
    const zip = Buffer.from(zipSync({ ...parts, [main!]: new Uint8Array(5 * 1024 * 1024) }));
    for (const { at } of placeOf(zip).entries) zip.writeUInt32LE(10, at + 24);
    expect(await send({ ...file, bytes: new Uint8Array(zip) })).toEqual([
      413,
      `"${file.name}" takes too much memory to read.`,
    ]);
  });

  test("nothing, when it has an end for large archives that agrees", async () => {
    const zip = Buffer.from(file.bytes);
    const { end, start, entries } = placeOf(zip);
    const large = Buffer.alloc(76);
    large.writeUInt32LE(0x06064b50, 0);
    large.writeBigUInt64LE(44n, 4);
    large.writeBigUInt64LE(BigInt(entries.length), 24);
    large.writeBigUInt64LE(BigInt(entries.length), 32);
    large.writeBigUInt64LE(BigInt(end - start), 40);
    large.writeBigUInt64LE(BigInt(start), 48);
    large.writeUInt32LE(0x07064b50, 56);
    large.writeBigUInt64LE(BigInt(end), 64);
    const bytes = Buffer.concat([zip.subarray(0, end), large, zip.subarray(end)]);
    expect(await send({ ...file, bytes: new Uint8Array(bytes) })).toEqual([200, undefined]);
    expect(textOf(seen.messages.at(-1)!)).toContain("Fine");
  });
});
