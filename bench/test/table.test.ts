import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { ratioOf, toMarkdown, toRows, toText } from "../lib/report/table.mjs";

const result = {
  unit: "delta",
  subjects: [
    { name: "raw", values: { cpuUs: [2, 4, 3], rssMb: [60, 60, 60] } },
    { name: "ours", values: { cpuUs: [1, 2, 6], rssMb: [90, 90, 120], packages: [20] } },
    { name: "raw JSON", values: { cpuUs: [1, 1, 1] } },
    { name: "REST JSON", base: "raw JSON", values: { cpuUs: [1.5, 1.25, 1.5] } },
  ],
};

describe("a table", () => {
  test("shows the base's figures and the others as ratios with their spread", () => {
    const [header, raw, ours] = toRows(result);
    expect(header).toEqual(["", "CPU per delta", "RSS", "packages"]);
    expect(raw).toEqual(["raw", "3.00 µs", "60 MB", "–"]);
    expect(ours).toEqual(["ours", "0.50 (0.50–2.00)", "1.50 (1.50–2.00)", "20"]);
  });

  test("measures against another base where one is named", () => {
    const rows = toRows(result);
    expect(rows[3]).toEqual(["raw JSON", "1.00 µs = 0.33", "–", "–"]);
    expect(rows[4]).toEqual(["REST JSON (to raw JSON)", "1.50 (1.25–1.50)", "–", "–"]);
  });

  test("has only the columns that are asked for", () => {
    const rows = toRows(result, { keys: ["rssMb"], hasSpread: false });
    expect(rows.slice(0, 3)).toEqual([
      ["", "RSS"],
      ["raw", "60 MB"],
      ["ours", "1.50"],
    ]);
  });

  test("stands in columns in a terminal and is a table in Markdown", () => {
    const rows = [
      ["", "CPU"],
      ["raw", "3.00 µs"],
    ];
    expect(toText(rows)).toBe("         CPU\nraw  3.00 µs");
    expect(toMarkdown(rows)).toBe("|  | CPU |\n| --- | ---: |\n| raw | 3.00 µs |");
  });
});

test("a quantity that one of the two lacks has no ratio", () => {
  expect(ratioOf(result, result.subjects[1], "packages")).toBeUndefined();
});
