import { needsEscape } from "@holodeck/agui-core/internal";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("needsEscape", () => {
  it.each([
    "",
    "plain text",
    "Grüße, 世界",
    "\u2028\u2029\u007f\u00a0\uffff\ue000\ud7ff",
    "[]{}/'<>",
  ])("is not so of %j", (text) => {
    expect(JSON.stringify(text)).toBe(`"${text}"`);
    expect(needsEscape.test(text)).toBe(false);
  });

  it.each(['"', "\\", "\n", "\r", "\t", "\0", "\u001f", "\ud800", "\udfff", "a\udc00b", "x\ud83d"])(
    "is so of %j",
    (text) => expect(needsEscape.test(text)).toBe(true),
  );

  it("is so of every text that JSON writes otherwise", () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const text = fc.oneof(fc.string({ unit }), fc.string({ unit: "binary" }), fc.string());
    fc.assert(
      fc.property(text, (one) => needsEscape.test(one) || JSON.stringify(one) === `"${one}"`),
      { numRuns: 2_000 },
    );
  });
});
