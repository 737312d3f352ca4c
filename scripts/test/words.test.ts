import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { findWords } from "../words.mjs";

describe("the check of words", () => {
  test.for([
    ["a test", 'test("tells the client", () => {});'],
    ["a group", 'describe("what a run has said", () => {});'],
    ["a test for each of several values", 'test.for([1])("tells %s", () => {});'],
    ["a test under a condition", 'it.skipIf(slow()).each([1])("hears %s", () => {});'],
    [
      "a test with a name that is put together",
      "test(`is ${told} by ${name} and told`, () => {});",
    ],
  ])("finds a word in the title of %s", ([, text]) => {
    expect(findWords("packages/core/test/run.test.ts", text)).toHaveLength(1);
  });

  test.for([
    ["data", 'test("asks", () => { send("It said so."); });'],
    ["names", 'test("asks", () => { const said = 1; });'],
    ["comments", '// Nobody is told.\ntest("asks", () => {});'],
  ])("leaves %s of a test alone", ([, text]) => {
    expect(findWords("packages/core/test/run.test.ts", text)).toEqual([]);
  });

  test("finds a word in comments and messages of a source, with its line", () => {
    const text =
      '// Sent.\n// Nobody comes.\nthrow new Error("It was told so.");\nconst sent = "told";\n';
    expect(findWords("packages/core/src/run.ts", text)).toEqual([
      expect.stringContaining('packages/core/src/run.ts:3 "told"'),
      expect.stringContaining('packages/core/src/run.ts:2 "Nobody"'),
    ]);
  });

  test.for(["const said = 1;", "class A { #told = 1; }", "run(isHeardOnce);", "a.tell();"])(
    "finds a word in the names of a source: %s",
    (text) => {
      expect(findWords("packages/core/src/run.ts", text)).toHaveLength(1);
    },
  );

  test("leaves names alone that only contain a word", () => {
    expect(findWords("packages/core/src/run.ts", "essay(foretold, hearth);")).toEqual([]);
  });

  test("finds a word in Markdown, and none in its code", () => {
    const text = "A client is told.\n\n```ts\nconst told = 1;\n```\n\n`told`\n";
    expect(findWords("docs/http.md", text)).toHaveLength(1);
  });
});
