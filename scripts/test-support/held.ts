// Tables of attacks that were tried and failed. `docs/operate/security.md` quotes their counts: a table calls `held`
// with its name and its count, and fails when the page has another number.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const page = fileURLToPath(new URL("../../docs/operate/security.md", import.meta.url));

/** One row of the page's table: what was tried, how often, and the file of its test. */
export interface HeldRow {
  readonly what: string;
  readonly tried: number;
  readonly test: string;
}

/** The rows of the table "What was tried". */
export function heldRows(text: string = readFileSync(page, "utf8")): HeldRow[] {
  return text.split("\n").flatMap((line) => {
    const [what, tried, test] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (what === undefined || tried === undefined || test === undefined) return [];
    if (!/^[\d,]+$/.test(tried)) return [];
    return [{ what, tried: Number(tried.replaceAll(",", "")), test: test.replaceAll("`", "") }];
  });
}

/** Everything of a table was tried and `through` lists what succeeded: nothing may, and the page has this count. */
export function held(what: string, tried: number, through: readonly unknown[]): void {
  process.stdout.write(`${what}: ${tried} tried, ${through.length} through\n`);
  expect(through.slice(0, 10), what).toEqual([]);
  const row = heldRows().find((one) => one.what === what);
  expect(row?.tried, `"${what}" in docs/operate/security.md`).toBe(tried);
}
