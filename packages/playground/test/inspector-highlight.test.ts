import fc from "fast-check";
import { expect, test } from "vitest";
import { tokenize } from "../page/inspector/shared/tokenize.ts";

const words = fc.constantFrom(
  "<b>",
  "</span>",
  '"',
  "'",
  "&amp;",
  "&",
  "{",
  "a: 1",
  "\n",
  "// x",
  "é",
);

test("loses no character of what it colours, markup in it least of all", () => {
  fc.assert(
    fc.property(
      fc.array(words, { maxLength: 12 }),
      fc.constantFrom("bash" as const, "json" as const, "typescript" as const),
      (parts, language) => {
        const code = parts.join("");
        expect(
          tokenize(code, language)
            .map(({ text }) => text)
            .join(""),
        ).toBe(code);
      },
    ),
  );
});

test("distinguishes keys, strings and numbers", () => {
  expect(
    tokenize('{"a": "<b>", "n": 1}', "json").filter(({ kind }) => /attr|str|num/.test(kind)),
  ).toEqual([
    { text: '"a"', kind: "hljs-attr" },
    { text: '"<b>"', kind: "hljs-string" },
    { text: '"n"', kind: "hljs-attr" },
    { text: "1", kind: "hljs-number" },
  ]);
});
