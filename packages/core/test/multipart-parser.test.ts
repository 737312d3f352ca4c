import fc from "fast-check";
import { expect, test } from "vitest";
import { MultipartParser } from "../src/internal.ts";
import type { PartHead } from "../src/internal.ts";

interface Read extends PartHead {
  bytes: number[];
}

function read(boundary: string, pieces: readonly Uint8Array[]): { parts: Read[]; isDone: boolean } {
  const parts: Read[] = [];
  const parser = new MultipartParser(boundary, {
    begin: (head) => parts.push({ ...head, bytes: [] }),
    data: (bytes) => void parts.at(-1)!.bytes.push(...bytes),
    end: () => {},
  });
  for (const piece of pieces) {
    parser.write(piece);
    // The buffer of a socket, used again.
    piece.fill(0);
  }
  return { parts, isDone: parser.isDone };
}

// The bytes that a boundary begins with are the ones that can be taken for one.
const content = fc.array(
  fc.oneof(
    fc.constantFrom("\r", "\n", "\r\n", "-", "--", "\r\n-", "\r\n--", "\r\n----"),
    fc.string({ unit: "binary", maxLength: 4 }),
  ),
  { maxLength: 12 },
);

test("reads what a browser writes, in whatever pieces it comes", async () => {
  const part = fc.record({
    name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    filename: fc.option(fc.stringMatching(/^[a-zä☃ .]{1,8}$/), { nil: undefined }),
    content,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 4 }),
      fc.infiniteStream(fc.nat(40)),
      async (given, cuts) => {
        const form = new FormData();
        for (const { name, filename, content: pieces } of given) {
          const text = pieces.join("");
          if (filename === undefined) form.append(name, new Blob([text]), "blob");
          else form.append(name, new Blob([text], { type: "text/csv" }), filename);
        }
        const response = new Response(form);
        const boundary = /boundary=(.+)$/.exec(response.headers.get("content-type")!)![1]!;
        const whole = new Uint8Array(await response.arrayBuffer());
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < whole.length;) {
          const size = 1 + cuts.next().value!;
          pieces.push(whole.slice(at, at + size));
          at += size;
        }
        const { parts, isDone } = read(boundary, pieces);
        const kept = [...form.entries()] as [string, File][];
        expect(parts.map(({ bytes }) => bytes)).toEqual(
          await Promise.all(
            kept.map(async ([, file]) => [...new Uint8Array(await file.arrayBuffer())]),
          ),
        );
        expect(parts.map(({ filename }) => filename)).toEqual(kept.map(([, { name }]) => name));
        expect(isDone).toBe(true);
      },
    ),
    { numRuns: Number(process.env.MULTIPART_RUNS ?? 200) },
  );
});

test.for([
  ['form-data; name="a"; filename="b\\"c.txt"', "a", 'b"c.txt'],
  ["form-data; name=a; filename=b.txt", "a", "b.txt"],
  ['form-data; name="a"; filename="x"; filename*=UTF-8\'\'%e2%98%83.txt', "a", "☃.txt"],
  ['form-data; name="a"', "a", undefined],
  ['form-data; name=""', "", undefined],
] as const)("knows the names in %s", ([disposition, name, filename]) => {
  const text = `--b\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--b--\r\n`;
  const { parts } = read("b", [new TextEncoder().encode(text)]);
  expect(parts).toMatchObject([{ name, filename, bytes: [120] }]);
});

test.for([
  ["a line break", "\r\n"],
  ["a preamble", "This is a message in several parts.\r\n"],
  ["a preamble of several lines", "one\r\n--not\r\n\r\n-\r\n"],
] as const)("skips %s before the first boundary, in whatever pieces", ([, preamble]) => {
  const text = `${preamble}--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--`;
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const { parts, isDone } = read("b", pieces);
    expect(parts).toMatchObject([{ name: "a", bytes: [120] }]);
    expect(isDone).toBe(true);
  }
});

test("takes white space at the end of a boundary, in whatever pieces", () => {
  const text =
    '--b \t\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b  \r\n' +
    'Content-Disposition: form-data; name="c"\r\n\r\ny\r\n--b--  \r\nepilogue';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 5, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    expect(read("b", pieces).parts.map(({ name }) => name)).toEqual(["a", "c"]);
  }
});

test("takes a boundary for one only at the beginning of a line", () => {
  const text = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n--b--b\r\n-b\r\n--b--';
  const { parts, isDone } = read("b", [new TextEncoder().encode(text)]);
  expect(String.fromCharCode(...parts[0]!.bytes)).toBe("--b--b\r\n-b");
  expect(isDone).toBe(true);
});

test.for([
  ["--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", "no Content-Disposition"],
  ["--bxx", "followed by unexpected data"],
  ["--b x\r\n", "followed by unexpected data"],
  [`--b${" ".repeat(2_000)}`, "too much white space"],
  ["preamble ".repeat(1_000), "does not begin with its boundary"],
  [`--b\r\nx: ${"y".repeat(9000)}`, "bytes of headers"],
])("refuses %s", ([text, reason]) => {
  expect(() => read("b", [new TextEncoder().encode(text)])).toThrow(reason);
});

test("takes content for content, however much it looks like a boundary, in whatever pieces", () => {
  const boundary = fc.stringMatching(/^[-ab]{1,4}$/);
  const pieces = fc.array(
    fc.constantFrom("\r", "\n", "\r\n", "-", "--", "\r\n-", "\r\n--", "a", "b", "\r\r\n--", "\0"),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(
      boundary,
      fc.array(pieces, { minLength: 1, maxLength: 3 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (edge, given, cuts) => {
        const contents = given.map((parts) => parts.join(""));
        // A real form chooses a boundary that is in none of its parts.
        fc.pre(contents.every((text) => !`\r\n${text}\r\n`.slice(0, -1).includes(`\r\n--${edge}`)));
        const head = 'Content-Disposition: form-data; name="a"; filename="b"\r\n\r\n';
        const body = contents.map((text) => `--${edge}\r\n${head}${text}\r\n`).join("");
        const whole = new TextEncoder().encode(`${body}--${edge}--\r\n`);
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < whole.length;) {
          const size = cuts.next().value!;
          chunks.push(whole.slice(at, at + size));
          at += size;
        }
        for (const split of [chunks, [whole.slice()]]) {
          const { parts, isDone } = read(edge, split);
          expect(parts.map(({ bytes }) => String.fromCharCode(...bytes))).toEqual(contents);
          expect(isDone).toBe(true);
        }
      },
    ),
    { numRuns: Number(process.env.MULTIPART_RUNS ?? 300) },
  );
});
