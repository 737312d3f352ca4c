import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

interface Report {
  perThread: number;
  early: number;
  late: number;
}

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;

describe("the memory store under load", () => {
  let report: Report;

  beforeAll(async () => {
    const script = fileURLToPath(new URL("_soak-child.ts", import.meta.url));
    const flags = ["--expose-gc", ...sourceFlags];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
    report = JSON.parse(stdout) as Report;
    const { perThread, early, late } = report;
    process.stdout.write(
      `A thread of 50 messages of 200 characters takes ${kib(perThread)}; ` +
        `100,000 create/expire cycles: heap ${kib(early)} → ${kib(late)}.\n`,
    );
  }, 300_000);

  test("keeps a thread of 50 messages in less than three times its text", () => {
    const characters = 50 * (200 + 26);
    expect(report.perThread).toBeGreaterThan(characters);
    expect(report.perThread).toBeLessThan(3 * characters);
  });

  test("does not grow over 100,000 sessions that come and expire", () => {
    expect(report.late / report.early).toBeLessThan(1.1);
  });
});
