import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

interface Report {
  testResults: {
    assertionResults: { status: string; ancestorTitles: string[]; title: string }[];
  }[];
}

const vitest = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

/** Runs suites on broken things, in a separate process, and returns the titles that failed by suite. */
export async function findFailures(config: string): Promise<Record<string, string[]>> {
  const args = [vitest, "run", "--config", config, "--reporter=json"];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
  });
  const { testResults } = JSON.parse(output.slice(output.indexOf("{"))) as Report;
  const failures: Record<string, string[]> = {};
  for (const { status, ancestorTitles, title } of testResults.flatMap(
    (one) => one.assertionResults,
  )) {
    const suite = ancestorTitles.find((one) => one.includes(": "))!;
    if (status === "failed") (failures[suite] ??= []).push(title);
  }
  return failures;
}
