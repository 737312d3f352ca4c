import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { compareToBudget } from "../lib/compare-to-budget.mjs";

const timeout = 500_000;
const budgets = { writes: { max: 4, unit: "writes", reason: "One per turn." } };

/**
 * The guard on the sources, so that nothing has to be built. Per delta only: what tsx makes of closures
 * adds to every run.
 */
async function guard(env: Record<string, string>): Promise<{ code: number; output: string }> {
  const script = fileURLToPath(new URL("../guard.mjs", import.meta.url));
  const flags = ["--conditions=@holodeck/source", "--import=tsx"];
  try {
    const args = [...flags, script, "--only", "bytesPerDelta"];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, ...env },
      timeout,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: `${stdout}${stderr}` };
  }
}

describe("the budget", () => {
  test("allows its limit, and names what is over it with the reason", () => {
    expect(compareToBudget({ writes: 4 }, budgets).faults).toEqual([]);
    expect(compareToBudget({ writes: 4.5 }, budgets).faults).toEqual([
      "writes is 4.50 writes; at most 4 is allowed. One per turn.",
    ]);
  });

  test("is not kept by measuring nothing", () => {
    expect(compareToBudget({}, budgets).faults).toEqual(["Nothing was measured."]);
  });

  test("has a reason for every limit", () => {
    const file = new URL("../budget.json", import.meta.url);
    const own = JSON.parse(readFileSync(file, "utf8")) as { budgets: Record<string, object> };
    for (const budget of Object.values(own.budgets)) {
      expect(budget).toEqual({
        max: expect.any(Number),
        unit: expect.any(String),
        reason: expect.stringMatching(/\.$/),
      });
    }
  });
});

// That it passes as things are is a check of its own (`npm run check -- "bench guard"`).
test(
  "the guard fails when every event is copied once more",
  async () => {
    const { code, output } = await guard({ BENCH_PLANT: "copy" });
    expect(output).toContain("bytesPerDelta is");
    expect(code).toBe(1);
  },
  timeout,
);
