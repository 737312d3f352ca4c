// `npm test [-- vitest arguments]`: installs if needed, runs the suite, ends with the real counts.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install, requireNode } from "./lib/install.mjs";
import { runHere } from "./lib/process.mjs";
import { bin, readJson } from "./lib/workspace.mjs";
import { buildPage } from "./test-support/page.mjs";

requireNode();
await install();
await buildPage();

const folder = mkdtempSync(join(tmpdir(), "holodeck-test-"));
const report = join(folder, "report.json");
const notRun = join(folder, "not-run");
process.env.NOT_RUN_FILE = notRun;
const code = await runHere([
  ...bin("vitest", "vitest.mjs"),
  "run",
  ...process.argv.slice(2),
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
]);
const { passed, failed, skipped } = count(code);
const missing = existsSync(notRun) ? new Set(readFileSync(notRun, "utf8").split("\n")) : [];
rmSync(folder, { recursive: true, force: true });
for (const line of missing) if (line !== "") console.log(line);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(code === 0 && failed > 0 ? 1 : code);

function count(exitCode) {
  let result;
  try {
    result = readJson(report);
  } catch {
    // vitest ended before it could report: that counts as a failure.
    return { passed: 0, failed: 1, skipped: 0 };
  }
  // A file that does not load has no failed test, yet it failed.
  const broken = result.testResults.filter(
    (file) =>
      file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  const failed = result.numFailedTests + broken.length;
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}
