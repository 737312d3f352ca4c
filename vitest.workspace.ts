import { defineProject } from "vitest/config";
import type { TestProjectConfiguration } from "vitest/config";

// Two cores that are busy with something else are no reason to fail: what hangs is told late, what is
// slow is not told at all. `vi.waitFor` has no such setting; `expect.poll` is used instead.
const patient = {
  testTimeout: 90_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000, interval: 25 } },
};

// Siblings resolve to `src`, so tests need no build.
const conditions = ["@holodeck/source", "node"];
const resolve = { conditions };

// Each file in a process of its own: React keeps the page that it finds when it is loaded.
const alone = ["packages/vercel/test/{other-hooks,use-chat,v4-use-chat}.test.ts"];

const setupFiles = ["scripts/test-support/seed.ts", "scripts/test-support/restore.ts"];

const projects: TestProjectConfiguration[] = [
  defineProject({
    resolve,
    ssr: { resolve },
    test: {
      name: "unit",
      include: ["packages/*/test/**/*.test.ts"],
      exclude: ["**/node_modules/**", ...alone],
      setupFiles,
      // Importing the sources again for every file would take half of the time.
      isolate: false,
      ...patient,
    },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "alone", include: alone, setupFiles, ...patient },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "examples", include: ["examples/*/test/**/*.test.ts"], ...patient },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "hardening", include: ["hardening/test/**/*.test.ts"], ...patient },
  }),
  defineProject({ test: { name: "bench", include: ["bench/test/**/*.test.ts"], ...patient } }),
  defineProject({
    test: { name: "workspace", include: ["scripts/test/**/*.test.ts"], ...patient },
  }),
];

export default projects;
