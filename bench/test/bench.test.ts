import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../bench.mjs", import.meta.url));
const flags = ["--conditions=@holodeck/source", "--import=tsx"];
const timeout = 500_000;
const run = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, args, { timeout });

test(
  "measures a scenario, prints its table and writes what it saw",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "agui-bench-test-"));
    const file = join(folder, "out.json");
    try {
      const chosen = ["--rounds", "1", "--subjects", "raw;ours", "tools"];
      const { stdout, stderr } = await run(...flags, script, ...chosen, "--json", file);
      expect(stdout).toMatch(/^raw +[\d.]+ µs/m);
      expect(stdout).toMatch(/^ours +[\d.]+ \(/m);
      expect(stderr).toContain("round 1 of 1");
      const record = JSON.parse(readFileSync(file, "utf8"));
      expect(record.versions.node).toBe(process.versions.node);
      expect(record.scenarios.tools.subjects[1].values.cpuUs).toEqual([expect.any(Number)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  timeout,
);

test("names the scenarios there are when one is unknown", async () => {
  await expect(run(script, "brust")).rejects.toThrow(
    /No scenario "brust". Expected one of: burst, paced-300/,
  );
});
