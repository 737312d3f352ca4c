// One test file, on sources with their mutants in them; see runner.mjs.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { root } from "../lib/workspace.mjs";
import { areas, mutantsOf } from "./areas.mjs";
import { instrument } from "./instrument.mjs";

const { area, test } = JSON.parse(readFileSync(process.env.MUTATE_JOB, "utf8"));
const sources = group(mutantsOf(areas[area]));
const conditions = ["@holodeck/source", "node"];

export default defineConfig({
  root,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  plugins: [
    {
      name: "mutants",
      enforce: "pre",
      transform(code, id) {
        const mutants = sources.get(id.split("?")[0]);
        return mutants && { code: instrument(code, mutants), map: null };
      },
    },
  ],
  test: {
    include: [test],
    testNamePattern: areas[area].names?.[test],
    runner: "./scripts/mutate/runner.mjs",
    setupFiles: [
      "scripts/test-support/seed.ts",
      "scripts/test-support/restore.ts",
      "scripts/mutate/setup.mjs",
    ],
    pool: "forks",
    isolate: false,
    maxWorkers: 1,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 25 } },
  },
});

function group(mutants) {
  const map = new Map();
  for (const one of mutants) map.set(one.path, [...(map.get(one.path) ?? []), one]);
  return map;
}
