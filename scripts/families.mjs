// The families of checks beside the suite, each with a smoke that CI runs. A new family is one entry: a name, what
// its smoke shows, a command that ends with a code other than 0 when something is wrong, and its time limit.
import { bin } from "./lib/workspace.mjs";

const vitest = (...args) => [...bin("vitest", "vitest.mjs"), "run", ...args];

export const families = [
  {
    name: "soak",
    shows: "a minute of runs on three processes that are killed in turn",
    command: () => vitest("packages/agui/test/fleet.test.ts"),
    env: { FLEET_RUNS: "500", FLEET_KILLS: "10" },
    minutes: 10,
  },
  {
    name: "fresh",
    shows: "the README's commands in a fresh clone, without pnpm",
    command: () => [process.execPath, "scripts/fresh.mjs"],
    minutes: 15,
  },
];
