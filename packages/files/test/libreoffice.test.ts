// Documents that LibreOffice has written: the text that a user sees in them. Their sources are in hardening/documents.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { extractText } from "../src/extract/extract-text.ts";
import type { ExtractKind } from "../src/extract/job.ts";

function read(kind: ExtractKind, name = "libreoffice"): Promise<string> {
  const path = `../../../hardening/corpus/${kind}/${name}.${kind}`;
  const from = new Uint8Array(readFileSync(new URL(path, import.meta.url)));
  const job = { kind, from, maxChars: 100_000, inflatedBytes: 10_000_000 };
  return extractText(from, { ...job, ocr: { language: "eng" } });
}

test("a document with headings, lists, merged cells, a footnote and a link", async () => {
  expect(await read("docx")).toBe(
    `Orchard report

# Harvest

We picked **three** kinds of _apples_ in autumn[^1], see [the list](https://example.com/apples).

- Boskoop
   - keeps until March
- Elstar

## Steps

1. Pick
2. Sort
   1. by size
   2. by colour
3. Store

| Kind | Weight and place |  |
| --- | --- | --- |
| Boskoop | 120 kg | North |
|  | 80 kg | South and cellar |

A line
and another\tafter a tab, with    blanks & signs <tag> — “quotes” 日本 🍎.

Last words.

[^1]: Rain fell on nine days.`,
  );
});

test("a document that was a page", async () => {
  const text = await read("docx", "libreoffice-page");
  expect(text).toContain("# Kitchen\n\nText with **bold**, _italic_, [a link]");
  expect(text).toContain("(https://example.com/?a=1&b=2) and code.\n\n1. one\n2. two\n   - inner");
  expect(text).toContain("### Third level\n\nEnd");
});

test("a workbook with dates, times, shares, formulas, an error and a merged cell", async () => {
  expect(await read("xlsx")).toBe(
    `### Orders

| Item | Ordered | Price | Share | Sent | Call at |
| --- | --- | --- | --- | --- | --- |
| Ladder | 2026-03-04 | 1249.5 | 12.5% | true | 14:05:30 |
| Basket \\| round second line | 2026-03-05T16:30:00 | 20 | 50% | false |  |
| Sum |  | 1269.5 | #DIV/0! | yes | 0.3 |

### Second & last

|  |  |  |
| --- | --- | --- |
|  | 12345678901234 | 0.000012 |`,
  );
});

test("slides with a list in a list, a table, a box and notes", async () => {
  expect(await read("pptx")).toBe(
    `### Slide 1

- Autumn plan

- Pick early
   - before frost
- Press juice

Notes: Thank the helpers.
Mention the cellar.

### Slide 2

- Numbers

| Kind | kg |
| --- | --- |
| Elstar | 75 |

- A box of text`,
  );
  expect(await read("pptx", "libreoffice-titles")).toBe(
    "### Slide 1: One\n\n- a\n- b\n\nNotes: n\n\n### Slide 2: Two",
  );
});

test("PDFs", async () => {
  const report = await read("pdf");
  for (const line of [
    "We picked three kinds of apples in autumn1, see the list.",
    "Kind Weight and place",
    "Boskoop 120 kg North",
    "1 Rain fell on nine days.",
  ]) {
    expect(report.split("\n")).toContain(line);
  }
  expect(await read("pdf", "libreoffice-slides")).toContain("Kind kg\nElstar 75\nA box\nof text");
});
