import { expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { closing as untyped } from "../lib/closing.mjs";

const closing = untyped as (
  report: object | undefined,
  absences: readonly { file: string; suite: string; missing: string }[],
  exitCode: number,
) => { lines: string[]; failed: number };

const passing = { status: "passed" };
const skipped = { status: "skipped", meta: {} };

/** As much of vitest's JSON as is read. */
function reportOf(files: Record<string, { status: string; meta?: object }[]>): object {
  const all = Object.values(files).flat();
  const number = (status: string): number => all.filter((one) => one.status === status).length;
  return {
    numPassedTests: number("passed"),
    numFailedTests: number("failed"),
    numPendingTests: number("skipped"),
    numTodoTests: 0,
    testResults: Object.entries(files).map(([name, assertionResults]) => ({
      name,
      assertionResults,
      status: assertionResults.some(({ status }) => status === "failed") ? "failed" : "passed",
    })),
  };
}

test("a missing service has one line with its tests", () => {
  const report = reportOf({ "/a.ts": [passing, skipped], "/b.ts": [skipped, skipped] });
  const absences = [
    { file: "/a.ts", suite: "one", missing: "redis-server" },
    { file: "/b.ts", suite: "two", missing: "redis-server" },
  ];
  expect(closing(report, absences, 0).lines).toEqual([
    "NOT RUN: 3 tests (one; two). They need redis-server: npm run setup:services.",
    "1 passed, 0 failed, 3 skipped",
  ]);
});

test("tests that need two services which are missing are counted once", () => {
  const report = reportOf({ "/a.ts": [skipped], "/b.ts": [skipped] });
  const absences = [
    { file: "/a.ts", suite: "one", missing: "Chromium" },
    { file: "/a.ts", suite: "one", missing: "a page" },
    { file: "/b.ts", suite: "two", missing: "Chromium" },
  ];
  expect(closing(report, absences, 0).lines).toEqual([
    "NOT RUN: 1 test (one). They need Chromium and a page: npm run setup:services.",
    "NOT RUN: 1 test (two). They need Chromium: npm run setup:services.",
    "0 passed, 0 failed, 2 skipped",
  ]);
});

test("what is skipped for another reason has a line with the reason", () => {
  const otherwise = { status: "skipped", meta: { skipped: "of another platform" } };
  const report = reportOf({ "/a.ts": [passing, otherwise, skipped, skipped] });
  expect(closing(report, [], 0).lines).toEqual([
    "Skipped: 1 test, of another platform.",
    "Skipped: 2 tests, cases of a contract suite for what its subject does not have.",
    "1 passed, 0 failed, 3 skipped",
  ]);
});

test("without a skipped test the counts stand alone", () => {
  expect(closing(reportOf({ "/a.ts": [passing] }), [], 0).lines).toEqual(["1 passed, 0 failed"]);
});

test.for([
  [
    "a failed test",
    reportOf({ "/a.ts": [passing, { status: "failed" }] }),
    1,
    "1 passed, 1 failed",
  ],
  ["no report", undefined, 1, "0 passed, 1 failed"],
  ["a code other than 0", reportOf({ "/a.ts": [passing] }), 1, "1 passed, 1 failed"],
] as const)("counts %s as a failure", ([, report, code, line]) => {
  expect(closing(report, [], code)).toEqual({ lines: [line], failed: 1 });
});

test("counts a file that does not load as a failure", () => {
  const report = { ...reportOf({}), testResults: [{ status: "failed", assertionResults: [] }] };
  expect(closing(report, [], 1).failed).toBe(1);
});
