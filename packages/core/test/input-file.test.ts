import fc from "fast-check";
import { expect, test } from "vitest";
import { fromBase64, sanitiseName, sizeOfBase64, toBase64 } from "../src/internal.ts";

// What names are made dangerous with, and what they are made of otherwise.
const name = fc
  .array(
    fc.oneof(
      fc.constantFrom("/", "\\", "..", ".", " ", "\0", "\r\n", "\u202e", "\ufeff", "\ud83d", "C:"),
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constant("x".repeat(254)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));

test("a sanitised name is never a path, never empty, and harmless as it is", () => {
  fc.assert(
    fc.property(name, (given) => {
      const safe = sanitiseName(given, "file-1");
      expect(safe).not.toMatch(/[/\\]/);
      expect(safe).not.toMatch(/^\.*$/);
      expect(safe).toBe(safe.trim());
      expect(safe).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      expect(safe).not.toMatch(/\p{Cs}/u);
      expect(Array.from(safe).length).toBeLessThanOrEqual(255);
      // Whoever cleans it again changes nothing.
      expect(sanitiseName(safe, "other")).toBe(safe);
    }),
    { numRuns: 500 },
  );
});

test.for([
  ["a zero-width space", "in\u200bvoice.pdf", "invoice.pdf"],
  ["a joiner", "in\u200dvoi\u200cce.pdf", "invoice.pdf"],
  ["a word joiner and invisible operators", "in\u2060\u2063voice.pdf", "invoice.pdf"],
  ["a soft hyphen", "in\u00advoice.pdf", "invoice.pdf"],
  ["a direction of Arabic", "in\u061cvoice.pdf", "invoice.pdf"],
  ["an override of the direction", "invoice\u202efdp.exe", "invoicefdp.exe"],
  ["isolates", "\u2067invoice\u2069.pdf", "invoice.pdf"],
  ["tags", "invoice\u{e0041}\u{e007f}.pdf", "invoice.pdf"],
  ["a filler", "invoice\u3164\u115f.pdf", "invoice.pdf"],
  ["only what cannot be seen", "\u200b\u2060\ufeff", "file-1"],
] as const)("%s is not kept in the name of a file", ([, given, expected]) => {
  expect(sanitiseName(given, "file-1")).toBe(expected);
});

test("letters of all scripts are kept in the name of a file", () => {
  for (const name of ["Übersicht.pdf", "发票.docx", "חשבונית.pdf", "🌍 e\u0301.txt"]) {
    expect(sanitiseName(name, "file-1")).toBe(name);
  }
});

test("bytes survive base64, and their size is known before", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = toBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(sizeOfBase64(text)).toBe(bytes.byteLength);
      expect([...fromBase64(text)]).toEqual([...bytes]);
    }),
  );
});
