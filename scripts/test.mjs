// `npm test [-- vitest arguments]`: installs if needed, runs the suite, ends with the counts and why tests were skipped.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closing } from "./lib/closing.mjs";
import { install, requireNode } from "./lib/install.mjs";
import { runHere } from "./lib/process.mjs";
import { bin, readJson } from "./lib/workspace.mjs";
import { buildPage } from "./test-support/page.mjs";

requireNode();
await install();
await buildPage();

const folder = mkdtempSync(join(tmpdir(), "holodeck-test-"));
const report = join(folder, "report.json");
const notRun = join(folder, "not-run.jsonl");
process.env.NOT_RUN_FILE = notRun;
const code = await runHere([
  ...bin("vitest", "vitest.mjs"),
  "run",
  ...process.argv.slice(2),
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
]);
const { lines, failed } = closing(readReport(), readAbsences(), code);
rmSync(folder, { recursive: true, force: true });
console.log(lines.join("\n"));
process.exit(code === 0 && failed > 0 ? 1 : code);

function readReport() {
  try {
    return readJson(report);
  } catch {
    // vitest ended before it could report.
    return undefined;
  }
}

function readAbsences() {
  if (!existsSync(notRun)) return [];
  const text = readFileSync(notRun, "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}
