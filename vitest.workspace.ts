import { defineProject } from "vitest/config";
import type { TestProjectConfiguration } from "vitest/config";

// Two cores that are busy with something else are no reason to fail: what hangs is told late, what is
// slow is not told at all. `vi.waitFor` has no such setting; `expect.poll` is used instead.
const patient = {
  testTimeout: 90_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000, interval: 25 } },
};

// Projects with another number of workers form a group; groups run one after the other.
const afterWaiting = { sequence: { groupOrder: 1 }, ...patient };

// Siblings resolve to `src`, so tests need no build.
const conditions = ["@holodeck/source", "node"];
const resolve = { conditions };

// Each file in a process of its own: React keeps the page that it finds when it is loaded.
const alone = ["packages/vercel/test/{other-hooks,use-chat,v4-use-chat}.test.ts"];

// They wait for leases, servers and processes far more than they work: eight at a time, before all others.
const waiting = [
  "packages/sessions/test/{postgres,redis}-*.test.ts",
  "packages/sessions/test/{host-listeners,server-clock}.test.ts",
  "packages/agui/test/{approval-crash,chaos,delete-thread,draining,fleet,lost-runs,set-date}.test.ts",
  "packages/agui/test/{stop-elsewhere,store-away,store-refuses,unnoticed-losses,zombie-owner}.test.ts",
  "packages/cli/test/{serve-sessions,serve-signals}.test.ts",
  "packages/openai/test/background-elsewhere.test.ts",
  "packages/testing/test/{adapter-fails,suites-fail}.test.ts",
];

const setupFiles = ["scripts/test-support/seed.ts", "scripts/test-support/restore.ts"];

const projects: TestProjectConfiguration[] = [
  defineProject({
    resolve,
    ssr: { resolve },
    test: {
      name: "waiting",
      include: waiting,
      setupFiles,
      isolate: false,
      maxWorkers: 8,
      sequence: { groupOrder: 0 },
      ...patient,
    },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: {
      name: "unit",
      include: ["packages/*/test/**/*.test.ts"],
      exclude: ["**/node_modules/**", ...alone, ...waiting],
      setupFiles,
      // Importing the sources again for every file would take half of the time.
      isolate: false,
      ...afterWaiting,
    },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "alone", include: alone, setupFiles, ...afterWaiting },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "examples", include: ["examples/*/test/**/*.test.ts"], ...afterWaiting },
  }),
  defineProject({
    resolve,
    ssr: { resolve },
    test: { name: "hardening", include: ["hardening/test/**/*.test.ts"], ...afterWaiting },
  }),
  defineProject({ test: { name: "bench", include: ["bench/test/**/*.test.ts"], ...afterWaiting } }),
  defineProject({
    test: { name: "workspace", include: ["scripts/test/**/*.test.ts"], ...afterWaiting },
  }),
];

export default projects;
