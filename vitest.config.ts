import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import projects from "./vitest.workspace.ts";

// Those that take the longest first, so that none of them is left alone at the end. They wait for leases, servers and
// pages more than they work: side by side they keep the cores at work.
const longest = [
  "sessions/test/postgres-with-postgres-js.test.ts",
  "sessions/test/postgres-with-pg.test.ts",
  "playground/test/page.test.ts",
  "sessions/test/redis-cluster-with-node-redis.test.ts",
  "sessions/test/redis-cluster-with-ioredis.test.ts",
  "sessions/test/redis-with-node-redis.test.ts",
  "sessions/test/redis-with-ioredis.test.ts",
  "agui/test/fleet.test.ts",
  "agui/test/lost-runs.test.ts",
  "agui/test/zombie-owner.test.ts",
  "playground/test/page-looks.test.ts",
  "agui/test/slow-readers.test.ts",
  "agui/test/attacked.test.ts",
  "bench/test/budget.test.ts",
  "cli/test/check-faults.test.ts",
  "agui/test/run-once.test.ts",
  "hardening/test/soak.test.ts",
  "playground/test/inspector.test.ts",
  "playground/test/chat.test.ts",
  "sessions/test/postgres-outage.test.ts",
  "agui/test/forged-results.test.ts",
  "custom-store/test/custom-store.test.ts",
  "testing/test/suites-fail.test.ts",
  "sessions/test/redis-processes.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(name));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Much of the suite waits for leases and sockets: three files at a time keep two cores at work.
    maxWorkers: 3,
    projects,
    globalSetup: "scripts/test-support/typescript-hooks.mjs",
    sequence: { sequencer: LongestFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
