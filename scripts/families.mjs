// The families of checks beside the suite, each with a smoke that CI runs. A new family is one entry: a name, what
// its smoke shows, a command that ends with a code other than 0 when something is wrong, and its time limit.
import { bin } from "./lib/workspace.mjs";

const vitest = (...args) => [...bin("vitest", "vitest.mjs"), "run", ...args];

const hardening = (...args) => [process.execPath, "scripts/hardening.mjs", ...args];

// Where no service is, as far as tests are concerned.
const variables = ["REDIS_SERVER", "OPENSSL", "POSTGRES_BIN", "PGBOUNCER", "CHROMIUM", "CURL"];
const others = [
  "POSTGRES_OLDEST_BIN",
  "POSTGRES_NEWEST_BIN",
  "JSON_SCHEMA_TEST_SUITE",
  "COPILOTKIT_PAGE",
];
const nowhere = Object.fromEntries([...variables, ...others].map((name) => [name, "/nowhere"]));
const withServices = [
  "sessions/test/redis-",
  "sessions/test/postgres-",
  "sessions/test/leases",
  "playground/test/page",
  "playground/test/chat",
  "playground/test/inspector",
  "agui/test/chaos",
  "agui/test/store-refuses",
  "agui/test/fleet",
  "middleware/test/rate-limit",
  "copilotkit/test/page",
  "tools/test/json-schema-suite",
  "files/test/shared-uploads",
];

const smokeHosts = ["worker", "worker-slim", "bun", "deno", "node-24"];

export const families = [
  {
    name: "kills",
    shows: "a minute of runs on three processes that are killed in turn",
    command: () => vitest("packages/agui/test/fleet.test.ts"),
    env: { FLEET_RUNS: "500", FLEET_KILLS: "10" },
    minutes: 10,
  },
  {
    name: "soak",
    shows: "a minute of everything that clients do, after which the server is as it was",
    command: () => hardening("soak", "--minutes", "1"),
    minutes: 5,
  },
  {
    name: "fuzz",
    shows: "ten seconds for each target that reads what others write",
    // The same cases in every run of CI; before a release the seed is new.
    command: () => hardening("fuzz", "--seconds", "10", "--seed", "20261118"),
    minutes: 15,
  },
  {
    name: "hosts",
    shows: "the checks of all hosts on a Worker with each entry, Bun, Deno and Node 24",
    command: () => [process.execPath, "scripts/hosts.mjs", ...smokeHosts],
    minutes: 10,
  },
  {
    name: "alone",
    shows: "tests that use services are skipped, not failed, on a machine that has none",
    command: () => vitest(...withServices.map((path) => `packages/${path}`)),
    env: { ...nowhere, CI: "" },
    minutes: 10,
  },
  {
    name: "fresh",
    shows: "the README's commands in a fresh clone, without pnpm",
    command: () => [process.execPath, "scripts/fresh.mjs"],
    minutes: 15,
  },
];
