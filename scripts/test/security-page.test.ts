// docs/operate/security.md quotes counts of tests; each of those tests compares its count by `held`.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { heldRows } from "../test-support/held.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("every count on the page is compared by the test that it names", () => {
  const rows = heldRows();
  expect(rows.length).toBeGreaterThan(10);
  const unkept = rows.filter(({ what, test: file }) => !read(file).includes(`"${what}"`));
  expect(unkept).toEqual([]);
});

test("every promise of the page names tests that exist", () => {
  const section = read("docs/operate/security.md").split("## Promises")[1]!.split("\n## ")[0]!;
  const files = [...section.matchAll(/`(packages\/[^`]+\.test\.ts)`/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) expect(read(file)).toContain("expect(");
});

test("a row with another number is found", () => {
  expect(heldRows("| what | tried | test |\n|---|---|---|\n| a | 1,363 | `b.test.ts` |")).toEqual([
    { what: "a", tried: 1363, test: "b.test.ts" },
  ]);
});
