import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hexLines, toHexDump } from "../page/inspector/bytes/hex.ts";
import { toByteLines } from "../page/inspector/bytes/lines.ts";
import { textLines } from "../page/inspector/bytes/text-lines.ts";
import type { RecordedFrame } from "../page/model.ts";
import { frame } from "./_frames.ts";

const utf8 = new TextEncoder();
const marks: Record<string, string> = { "\\r\\n": "\r\n", "\\n": "\n", "\\r": "\r", "↩": "" };

describe("bytes in hexadecimal", () => {
  test("stand beside what of them is readable", () => {
    expect(hexLines(utf8.encode("Hello\n\u00e4 world, again"), 80)).toEqual([
      {
        kind: "hex",
        text: "00000000  48 65 6c 6c 6f 0a c3 a4 20 77 6f 72 6c 64 2c 20",
        ascii: "Hello... world, ",
      },
      { kind: "hex", text: `00000010  61 67 61 69 6e${" ".repeat(33)}`, ascii: "again" },
    ]);
  });

  test("are all there, in order, wide or narrow", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        fc.integer({ min: 10, max: 120 }),
        (bytes, columns) => {
          const lines = hexLines(bytes, columns);
          const read = lines.flatMap(({ text }) => text.slice(10).trim().split(" "));
          expect(read.filter(Boolean).map((hex) => Number.parseInt(hex, 16))).toEqual([...bytes]);
          for (const [index, { text }] of lines.entries()) {
            expect(Number.parseInt(text.slice(0, 8), 16)).toBe(index * (columns >= 75 ? 16 : 8));
          }
        },
      ),
    );
  });

  test("can be copied", () => {
    expect(toHexDump(Uint8Array.of(0, 0x41))).toBe(`00000000  00 41${" ".repeat(42)}  |.A|`);
  });
});

describe("bytes as text", () => {
  test("show how each line ends", () => {
    expect(textLines(utf8.encode("data: 1\r\nid: 2\n\n: ping\rend"), 80)).toEqual([
      { kind: "text", text: "data: 1", end: "\\r\\n" },
      { kind: "text", text: "id: 2", end: "\\n" },
      { kind: "text", text: "", end: "\\n" },
      { kind: "text", text: ": ping", end: "\\r" },
      { kind: "text", text: "end" },
    ]);
  });

  test("lose nothing when they are broken to fit", () => {
    const said = fc.string({
      unit: fc.constantFrom("a", "é", "😀", "\r", "\n", " "),
      maxLength: 200,
    });
    fc.assert(
      fc.property(said, fc.integer({ min: 0, max: 60 }), (text, columns) => {
        const lines = textLines(utf8.encode(text), columns);
        expect(lines.map(({ text, end }) => text + (marks[end ?? ""] ?? "")).join("")).toBe(text);
        for (const { text } of lines)
          expect(Array.from(text).length).toBeLessThanOrEqual(Math.max(columns, 20));
      }),
    );
  });

  test("show control characters and the mark of a byte order", () => {
    expect(textLines(utf8.encode("\uFEFFa\u0000b\tc\u007f"), 80)[0]?.text).toBe(
      String.raw`${"\uFEFF"}a\u0000b\tc\u007f`,
    );
  });
});

describe("the frames of an answer", () => {
  test("have their number, time, size and events", () => {
    const lines = toByteLines([frame(0, 12, { type: "RAW" }), frame(1, 30.26)], sse);
    expect(lines).toEqual([
      { kind: "head", text: "#0 · 12 ms · 22 B · RAW" },
      { kind: "text", text: 'data: {"type":"RAW"}', end: "\\n" },
      { kind: "text", text: "", end: "\\n" },
      { kind: "head", text: "#1 · 30 ms · 3 B · no event" },
      { kind: "text", text: ":", end: "\\n" },
      { kind: "text", text: "", end: "\\n" },
    ]);
  });

  test("of protobuf show their length, and one that is wrong", () => {
    const head = (...bytes: number[]) => {
      const whole: RecordedFrame = { index: 0, at: 0, bytes: Uint8Array.from(bytes), events: [] };
      return toByteLines([whole], { wire: "agui-proto", columns: 80 })[0]?.text;
    };
    expect(head(0, 0, 0, 2, 9, 9)).toContain("length 4 + 2");
    expect(head(0, 0, 0, 3, 9, 9)).toContain("length is 3, received 2");
    expect(head(0, 0)).toContain("no length");
  });

  test("show how many are not kept", () => {
    expect(toByteLines([frame(7, 0)], sse)[0]).toEqual({
      kind: "note",
      text: "The bytes of 7 frames were discarded.",
    });
    const emptied = { ...frame(0, 0, { type: "RAW" }), bytes: new Uint8Array() };
    expect(toByteLines([emptied, frame(1, 0)], { ...sse, dropped: 1200 })).toMatchObject([
      { kind: "note", text: "The bytes of 1 frame (1.2 kB) were discarded." },
      { kind: "head", text: "#1 · 0 ms · 3 B · no event" },
      { text: ":" },
      { text: "" },
    ]);
  });

  test("are read once, until the width is another", () => {
    const frames = [frame(0, 0, { type: "RAW", event: "x".repeat(100) })];
    const [, line] = toByteLines(frames, sse);
    expect(toByteLines(frames, sse)[1]).toBe(line);
    expect(toByteLines(frames, { ...sse, columns: 40 }).length).toBeGreaterThan(
      toByteLines(frames, { ...sse, columns: 200 }).length,
    );
  });
});

const sse = { wire: "agui-sse", columns: 80 } as const;
