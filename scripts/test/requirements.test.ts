import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { findFaults, readRows } from "../requirements.mjs";

const files: Record<string, string> = {
  "a.test.ts": [
    'test("says `hi`", () => {});',
    'test.for([1])("takes %s (twice)", () => {});',
    'test.skip("sleeps", () => {});',
    'test.for([\n  1,\n])(\n  "it\'s \\"long\\"",\n  () => {},\n);',
    'describe.skipIf(!hasRedis("(")).for(kinds)("with %s", () => {',
    "  // A bracket :) of no meaning.",
    '  test("asks Redis", () => {});',
    "});",
    'describe.runIf(browser)("x", () => void test("asks a browser", () => {}));',
    'test("asks nobody", () => {});',
  ].join("\n"),
};
const page = (...rows: string[]): string =>
  ["| code | what | how | test |", "|---|---|---|---|", ...rows, ""].join("\n");
const faultsOf = (text: string, required = ["M1"]): string[] =>
  findFaults(readRows(text), { required, read: (path: string) => files[path] });

describe("the check of the requirements", () => {
  test.for([
    ["a name with backticks", "``a.test.ts › says `hi` ``"],
    ["a template", "`a.test.ts › takes %s (twice)`"],
    ["a name with quotes, on a line of its own", '`a.test.ts › it\'s "long"`'],
    ["background", "background: nothing to build"],
    ["a test after one under a condition", "`a.test.ts › asks nobody`"],
    [
      "one under a condition beside another",
      "`a.test.ts › asks Redis`<br>`a.test.ts › asks nobody`",
    ],
    ["one under a condition that says what it needs", "`a.test.ts › asks Redis`, needs Redis"],
  ])("accepts %s", ([, proof]) => {
    expect(faultsOf(page(`| M1 | x | y | ${proof} |`))).toEqual([]);
  });

  test.for([
    ["no test", "", "M1 names no test and is no background."],
    ["words in place of a test", "later", "M1 names no test and is no background."],
    ["a file that is not there", "`b.test.ts › x`", "M1 names b.test.ts, which is not there."],
    ["a test that is not there", "`a.test.ts › says`", 'M1: a.test.ts has no test "says".'],
    ["a test that is skipped", "`a.test.ts › sleeps`", 'M1: a.test.ts has no test "sleeps".'],
    [
      "only tests in describe.skipIf",
      "`a.test.ts › asks Redis`",
      "M1 names only tests that run under",
    ],
    [
      "only tests in describe.runIf",
      "`a.test.ts › asks a browser`",
      "M1 names only tests that run under",
    ],
  ])("refuses %s", ([, proof, fault]) => {
    expect(faultsOf(page(`| M1 | x | y | ${proof} |`))).toEqual([expect.stringContaining(fault!)]);
  });

  test("wants each row once", () => {
    const row = "| M1 | x | y | background: x |";
    expect(faultsOf(page(row, row), ["M1", "M2"])).toEqual([
      "M1 has 2 rows; one is wanted.",
      "M2 has 0 rows; one is wanted.",
    ]);
    expect(faultsOf(`${row}\n`)).toEqual(["M1 has 0 rows; one is wanted."]);
  });
});
