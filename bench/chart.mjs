// `node bench/chart.mjs`: draws docs/bench.svg from bench/results/latest.json and writes its tables
// between the markers of the pages. `--check` only reports whether they match the results.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chart, fillMarkers, sections } from "./lib/report/pages.mjs";
import { readRecord, showSimulation } from "./lib/report/simulation.mjs";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const record = readRecord();
const made = { ...sections(record), simulation: `\`\`\`text\n${showSimulation(record)}\n\`\`\`` };
const at = (path) => new URL(`../${path}`, import.meta.url);
const paths = [
  "docs/performance.md",
  "docs/contributing/bench-results.md",
  "docs/scaling.md",
  "README.md",
];
const pages = paths.map((path) => [path, fillMarkers(readFileSync(at(path), "utf8"), made)]);
const stale = [];
for (const [path, text] of [["docs/bench.svg", chart(record)], ...pages]) {
  if (!values.check) writeFileSync(at(path), text);
  else if (readFileSync(at(path), "utf8") !== text) stale.push(path);
}
for (const path of stale) {
  console.error(`${path} does not match bench/results/latest.json: run node bench/chart.mjs.`);
}
process.exitCode = stale.length === 0 ? 0 : 1;
