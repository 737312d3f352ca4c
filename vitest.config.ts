import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import projects from "./vitest.workspace.ts";

// Those that take the longest first, so that none of them is left alone at the end.
const longest = [
  "testing/test/adapter-fails.test.ts",
  "sessions/test/postgres-with-postgres-js.test.ts",
  "sessions/test/postgres-with-pg.test.ts",
  "sessions/test/redis-cluster-with-node-redis.test.ts",
  "sessions/test/redis-cluster-with-ioredis.test.ts",
  "sessions/test/redis-with-node-redis.test.ts",
  "sessions/test/redis-with-ioredis.test.ts",
  "agui/test/store-refuses.test.ts",
  "agui/test/set-date.test.ts",
  "agui/test/fleet.test.ts",
  "sessions/test/redis-cluster-failover.test.ts",
  "agui/test/lost-runs.test.ts",
  "agui/test/draining.test.ts",
  "openai/test/background-elsewhere.test.ts",
  "sessions/test/postgres-outage.test.ts",
  "playground/test/page.test.ts",
  "playground/test/page-looks.test.ts",
  "agui/test/slow-readers.test.ts",
  "agui/test/attacked.test.ts",
  "bench/test/budget.test.ts",
  "cli/test/check-faults.test.ts",
  "agui/test/run-once.test.ts",
  "agui/test/resume-property.test.ts",
  "agui/test/held/cross-principal.test.ts",
  "hardening/test/soak.test.ts",
  "playground/test/inspector.test.ts",
  "playground/test/chat.test.ts",
  "agui/test/forged-results.test.ts",
  "custom-store/test/custom-store.test.ts",
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
    // Three files at a time keep two cores at work; those that hardly work have their own number.
    maxWorkers: 3,
    projects,
    globalSetup: "scripts/test-support/typescript-hooks.mjs",
    sequence: { sequencer: LongestFirst },
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
