import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

// A spy restores the function it was put on, here a fake timer, even after the timers are real again.
const leaving = `
import { expect, test, vi } from "vitest";
test("leaves a fake timer", () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  vi.spyOn(globalThis, "setTimeout").mockRestore();
  vi.useRealTimers();
  expect(1).toBe(1);
});`;

const waiting = `
import { test } from "vitest";
test("waits for a timer", () => new Promise((resolve) => setTimeout(resolve, 0)));`;

const config = `
export default {
  test: {
    include: ["*.test.mjs"],
    isolate: false,
    maxWorkers: 1,
    sequence: { sequencer: class { shard(files) { return files; } sort(files) {
      return files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    } } },
    setupFiles: [${JSON.stringify(join(root, "scripts/test-support/restore.ts"))}],
  },
};`;

test("a file that leaves a timer replaced fails, and the next one in its process does not", async () => {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.test.mjs"), leaving);
  writeFileSync(join(folder, "b.test.mjs"), waiting);
  writeFileSync(join(folder, "vitest.config.mjs"), config);

  const command = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder];
  const ended = promisify(execFile)(process.execPath, command, { env: cleanEnv() });
  const failed = await ended.catch((error: unknown) => error);
  const { stdout, stderr } = failed as { stdout: string; stderr: string };

  expect(stderr).toContain("This file left setTimeout replaced");
  expect(stdout).toMatch(/✓ b\.test\.mjs/u);
  expect(stdout).toMatch(/Test Files\s+1 failed \| 1 passed/u);
});

/** Without what the runner of this test has set for its own files. */
function cleanEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_OPTIONS$/u.test(name));
  return { ...Object.fromEntries(own), NO_COLOR: "1" };
}
