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
