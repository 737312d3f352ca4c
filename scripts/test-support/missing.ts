// Suites that need something this machine does not have.
import { appendFileSync } from "node:fs";

/** Prints which suite was not run and what it needs; `npm test` prints it again at its end. Throws with `CI=true`. */
export function reportMissing(suite: string, missing: string): void {
  const line = `NOT RUN: ${suite}. It needs ${missing}.`;
  if (process.env.CI === "true") throw new Error(line);
  process.stderr.write(`${line}\n`);
  const { NOT_RUN_FILE } = process.env;
  if (NOT_RUN_FILE) appendFileSync(NOT_RUN_FILE, `${line}\n`);
}
