import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { chart, fillMarkers, provenance } from "../lib/report/pages.mjs";
// @ts-expect-error -- a script without types
import { scenarios } from "../lib/scenarios.mjs";
// @ts-expect-error -- a script without types
import { readRecord } from "../lib/report/simulation.mjs";

const record = readRecord();

describe("pages", () => {
  test("show the figures of the results", () => {
    const script = fileURLToPath(new URL("../chart.mjs", import.meta.url));
    // Fails, and names the page, when one of them is stale.
    execFileSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  });

  test("have a place for every scenario and for the goals", () => {
    const paths = ["../../docs/performance.md", "../../docs/contributing/bench-results.md"];
    const text = paths.map((path) => readFileSync(new URL(path, import.meta.url), "utf8")).join("");
    const places = [...text.matchAll(/<!-- bench:([\w-]+) -->/g)].map(([, name]) => name);
    const names = scenarios.map(({ name }: { name: string }) => name);
    expect(places).toHaveLength(new Set(places).size);
    expect(new Set(places)).toEqual(new Set([...names, "goals", "versions"]));
  });

  test("name the date and the machine of the measurement, without a host or a path", () => {
    expect(provenance(record)).toMatch(/^Measured on \d{4}-\d\d-\d\d: .*cores.*Node \d+/);
    expect(JSON.stringify(record)).not.toMatch(/"\/|file:|localhost/);
  });

  test("keep everything outside the markers, and change nothing the second time", () => {
    const text = fc.string().filter((one) => !one.includes("bench"));
    fc.assert(
      fc.property(text, text, text, (before, content, after) => {
        const page = `${before}\n<!-- bench:a -->\nold\n<!-- /bench -->${after}`;
        const filled = fillMarkers(page, { a: content });
        expect(filled).toBe(`${before}\n<!-- bench:a -->\n\n${content}\n\n<!-- /bench -->${after}`);
        expect(fillMarkers(filled, { a: content })).toBe(filled);
        expect(fillMarkers(page, {})).toBe(page);
      }),
    );
  });
});

describe("the chart", () => {
  const svg: string = chart(record);

  test("has a bar for every server, as long as its ratio", () => {
    const { subjects } = record.scenarios.burst;
    for (const { name } of subjects) expect(svg).toContain(`>${name.replace("&", "&amp;")}</text>`);
    const widths = [...svg.matchAll(/class="(\w+)" x="\d+" y="\d+" width="([\d.]+)"/g)];
    expect(widths.length).toBeGreaterThanOrEqual(subjects.length);
    for (const [, , width] of widths) expect(Number(width)).toBeGreaterThan(0);
  });

  test("can be read on a light page and on a dark one", () => {
    expect(svg).toContain("prefers-color-scheme: dark");
  });
});
