import { defineProject } from "vitest/config";
import type { TestProjectConfiguration } from "vitest/config";

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
    },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "examples", include: ["examples/*/test/**/*.test.ts"] },
  }),
  defineProject({ test: { name: "workspace", include: [".ci/test/**/*.test.ts"] } }),
];

export default projects;
