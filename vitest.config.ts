import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import projects from "./vitest.workspace.ts";

// Those that take the longest first, so that none of them is left alone at the end. Some of them wait and
// some of them work: two of a kind side by side would be slower.
const longest = [
  "sessions/test/postgres-outage.test.ts",
  "sessions/test/postgres-with-postgres-js.test.ts",
  "agui/test/attacked.test.ts",
  "sessions/test/redis-cluster-with-ioredis.test.ts",
  "agui/test/slow-readers.test.ts",
  "sessions/test/postgres-with-pg.test.ts",
  "playground/test/page-looks.test.ts",
  "agui/test/fleet.test.ts",
  "cli/test/check-faults.test.ts",
  "sessions/test/redis-cluster-with-node-redis.test.ts",
  "playground/test/page.test.ts",
  "sessions/test/redis-with-node-redis.test.ts",
  "express/test/binding.test.ts",
  "sessions/test/redis-with-ioredis.test.ts",
  "agui/test/lost-runs.test.ts",
  "copilotkit/test/take-back.test.ts",
  "testing/test/suites-fail.test.ts",
  "agui/test/zombie-owner.test.ts",
  "files/test/bombs.test.ts",
  "bench/test/budget.test.ts",
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
    sequence: { sequencer: LongestFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
