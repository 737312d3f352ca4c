// The closing lines of `npm test`: what was not run and why, then the counts, which CI reads.

/**
 * `report` is vitest's JSON, undefined when vitest ended before it could write one; `absences` are the records of
 * `findService`, one for each suite without its service. The last line has the counts alone.
 */
export function closing(report, absences, exitCode) {
  const { passed, failed, skipped } = count(report, exitCode);
  const total = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return { lines: [...reasons(report, absences), total], failed };
}

function count(report, exitCode) {
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  // A file that does not load has no failed test, yet it failed.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  const failed = report.numFailedTests + broken.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

// One line for each missing service, one for each other reason that a test gives, and one for the rest.
function reasons(report, absences) {
  const lacking = new Map();
  const others = new Map();
  for (const { suite, missing } of absences) {
    const entry = lacking.get(missing) ?? { suites: new Set(), tests: 0 };
    entry.suites.add(suite);
    lacking.set(missing, entry);
  }
  for (const { name, assertionResults } of report?.testResults ?? []) {
    const tests = assertionResults.filter(({ status }) => !["passed", "failed"].includes(status));
    const absence = absences.find(({ file }) => file === name);
    if (absence) lacking.get(absence.missing).tests += tests.length;
    else for (const test of tests) add(others, test.meta?.skipped ?? inContractSuite);
  }
  return [
    ...[...lacking].map(
      ([missing, { suites, tests }]) =>
        `NOT RUN: ${tests} tests (${[...suites].join("; ")}). They need ${missing}: npm run setup:services.`,
    ),
    ...[...others].map(([reason, tests]) => `Skipped: ${tests} tests, ${reason}.`),
  ];
}

const inContractSuite = "cases of a contract suite for what its subject does not have";

function add(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
