// Suites that need something this machine does not have.
import { appendFileSync } from "node:fs";

/** Says what was not run, and what it would need; `npm test` says it again at its end. With `CI=true` it fails. */
export function reportMissing(suite: string, missing: string): void {
  const line = `NOT RUN: ${suite}. It needs ${missing}.`;
  if (process.env.CI === "true") throw new Error(line);
  process.stderr.write(`${line}\n`);
  const { NOT_RUN_FILE } = process.env;
  if (NOT_RUN_FILE) appendFileSync(NOT_RUN_FILE, `${line}\n`);
}
