import { isVerbatimJson } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("isVerbatimJson", () => {
  it.each([
    "",
    "plain text",
    "Grüße, 世界",
    "\u2028\u2029\u007f\u00a0\uffff\ue000\ud7ff",
    "[]{}/'<>",
  ])("is true of %j", (text) => {
    expect(JSON.stringify(text)).toBe(`"${text}"`);
    expect(isVerbatimJson(text)).toBe(true);
  });

  it.each(['"', "\\", "\n", "\r", "\t", "\0", "\u001f", "\ud800", "\udfff", "a\udc00b", "x\ud83d"])(
    "is false of %j",
    (text) => expect(isVerbatimJson(text)).toBe(false),
  );

  it("is never true of a text that JSON writes otherwise", () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const text = fc.oneof(fc.string({ unit }), fc.string({ unit: "binary" }), fc.string());
    fc.assert(
      fc.property(text, (one) => !isVerbatimJson(one) || JSON.stringify(one) === `"${one}"`),
      { numRuns: 2_000 },
    );
  });
});
