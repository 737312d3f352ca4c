import { defineConfig } from "vitest/config";
import projects from "./vitest.workspace.ts";

export default defineConfig({
  test: {
    // Much of the suite waits for leases and sockets; by default two cores run one file at a time.
    maxWorkers: 2,
    projects,
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
