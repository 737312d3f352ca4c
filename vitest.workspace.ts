import { defineProject } from "vitest/config";
import type { TestProjectConfiguration } from "vitest/config";

// Two cores that are busy with something else are no reason to fail.
const testTimeout = 30_000;

// Siblings resolve to `src`, so tests need no build.
const conditions = ["@holodeck/source", "node"];
const resolve = { conditions };

const projects: TestProjectConfiguration[] = [
  defineProject({
    resolve,
    ssr: { resolve },
    test: {
      name: "unit",
      include: ["packages/*/test/**/*.test.ts"],
      setupFiles: [".ci/seed.ts"],
      testTimeout,
    },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "examples", include: ["examples/*/test/**/*.test.ts"], testTimeout },
  }),
  defineProject({ test: { name: "bench", include: ["bench/test/**/*.test.ts"], testTimeout } }),
  defineProject({ test: { name: "workspace", include: [".ci/test/**/*.test.ts"] } }),
];

export default projects;
