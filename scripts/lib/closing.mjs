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

// One line for each missing service, or for each set of them, one for each other reason that a test gives, and one for
// the rest.
function reasons(report, absences) {
  const lacking = new Map();
  const others = new Map();
  const byFile = group(absences, ({ file, suite }) => file ?? suite);
  for (const [file, missed] of byFile) {
    const missing = unique(missed.map((one) => one.missing)).join(" and ");
    const entry = lacking.get(missing) ?? { suites: [], files: new Set(), tests: 0 };
    entry.suites.push(...missed.map(({ suite }) => suite));
    lacking.set(missing, { ...entry, files: entry.files.add(file) });
  }
  for (const { name, assertionResults } of report?.testResults ?? []) {
    const tests = assertionResults.filter(({ status }) => !["passed", "failed"].includes(status));
    const absence = [...lacking.values()].find(({ files }) => files.has(name));
    if (absence) absence.tests += tests.length;
    else for (const test of tests) add(others, test.meta?.skipped ?? inContractSuite);
  }
  return [
    ...[...lacking].map(
      ([missing, { suites, tests }]) =>
        `NOT RUN: ${counted(tests)} (${unique(suites).join("; ")}). They need ${missing}: npm run setup:services.`,
    ),
    ...[...others].map(([reason, tests]) => `Skipped: ${counted(tests)}, ${reason}.`),
  ];
}

function counted(tests) {
  return tests === 1 ? "1 test" : `${tests} tests`;
}

function unique(items) {
  return [...new Set(items)];
}

function group(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

const inContractSuite = "cases of a contract suite for what its subject does not have";

function add(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
