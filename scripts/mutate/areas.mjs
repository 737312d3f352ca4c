// What is mutated, and the test files that are tried on it, the fastest first.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/workspace.mjs";
import { findMutants } from "./find-mutants.mjs";

const inPackage = (name, folder, ...files) =>
  files.map((file) => `packages/${name}/${folder}/${file}.ts`);
const tests = (name, ...files) => inPackage(name, "test", ...files.map((file) => `${file}.test`));

const inMemory = "^(?!.*(Redis|SQLite|Postgre))";

/**
 * A new area is one entry: `sources` and `tests`, as paths from the root. `service` is one that the tests need, `names`
 * has a pattern for test files of which not all tests are tried.
 */
export const areas = {
  guard: {
    sources: inPackage(
      "core",
      "src/guard",
      "guard",
      "ending",
      "fast-path",
      "fields",
      "payloads",
      "reader",
      "repairs",
      "shapes",
      "state-tracker",
      "steps",
      "calls/call-names",
      "calls/earlier-calls",
      "calls/restate",
      "parts/begun-parts",
      "parts/chunk-kinds",
      "parts/chunks",
      "parts/close-left-open",
      "parts/known",
      "parts/legacy-thinking",
      "parts/owners",
      "parts/part-records",
      "parts/parts",
      "parts/taken-parts",
      "history/budget-error",
      "history/exact-count",
      "history/history-budget",
      "history/nested-too-deep",
    ),
    tests: [
      ...tests(
        "core",
        "guard",
        "guard-order",
        "guard-every-field",
        "guard-history-budget",
        "guard-fields",
        "guard-text",
        "guard-strict",
      ),
      ...tests("core", "guard-chunks", "guard-call-names", "state", "emit", "run", "tools"),
      ...tests("core", "guard-properties"),
      ...tests("agui", "taken-out", "waiting-calls", "take-back-property", "take-back"),
    ],
    // Its properties take as long as all other tests together, and find next to nothing more.
    names: {
      "packages/core/test/guard-call-names.test.ts":
        "^(?!.*(is a valid run, in which|has the same ids each time|gives each step of each turn))",
    },
  },
  trust: {
    sources: [
      ...inPackage("agui", "src/runs/history", "trust", "believed", "add-messages"),
      ...inPackage("agui", "src/runs/history", "new-messages", "assert-resume", "taken-calls"),
      ...inPackage("agui", "src/runs/history", "thread-record"),
      ...inPackage("agui", "src/runs", "client-tool-answers"),
      ...inPackage("core", "src/tools", "claims", "answers", "approval", "pending"),
    ],
    tests: [
      ...tests(
        "agui",
        "what-is-believed",
        "new-message-limits",
        "answers-to-questions",
        "calls-of-this-turn",
      ),
      ...tests("tools", "waiting", "approvals"),
      ...tests("core", "client-tools", "tools"),
      ...tests("rest", "threads-tool-faults", "threads-tools"),
      ...tests("agui", "thread-rules", "waiting-calls", "threads", "approved-calls"),
      ...tests("agui", "forged-for-agents", "new-messages", "forged-results", "forged-property"),
      ...tests("tools", "forged", "inline"),
    ],
    // The rules are the same on every store.
    names: {
      "packages/agui/test/forged-results.test.ts": "with sessions in memory",
      "packages/tools/test/approvals.test.ts": inMemory,
      "packages/rest/test/threads-tools.test.ts": inMemory,
    },
  },
  memory: {
    sources: inPackage(
      "sessions",
      "src",
      "memory/memory-log",
      "memory/memory-run",
      "memory/memory-sessions",
      "kit/runs/own-lease",
      "kit/runs/owned-runs",
      "kit/runs/lost-run",
      "kit/runs/assert-follows",
    ),
    tests: tests("sessions", "memory", "leases", "expiry", "memory-room", "requirements"),
  },
  sqlite: {
    sources: inPackage(
      "sessions",
      "src/sqlite",
      "sqlite-log",
      "run-rows",
      "session-rows",
      "sqlite-sessions",
    ),
    tests: tests("sessions", "sqlite", "leases", "sqlite-sessions", "expiry"),
  },
  redis: {
    service: "redis",
    sources: inPackage(
      "sessions",
      "src/redis",
      "scripts/prelude",
      "scripts/owner-scripts",
      "scripts/run-scripts",
      "scripts/session-scripts",
      "leases",
      "redis-log",
      "opening",
    ),
    tests: tests("sessions", "redis-with-ioredis", "leases", "redis-evicted", "redis-replay"),
  },
  postgres: {
    service: "postgres",
    sources: inPackage(
      "sessions",
      "src/postgres",
      "schema/owner-functions",
      "schema/session-functions",
      "schema/reader-functions",
      "log/appends",
      "log/postgres-log",
    ),
    tests: tests("sessions", "postgres-with-pg", "leases"),
  },
};

/**
 * The mutants of an area. `id` is short, for this text of the sources; `name` stays the same while the line stays the
 * same: file, line, change; `line` is file and line.
 */
export function mutantsOf({ sources }) {
  const names = new Map();
  return sources.flatMap((file, place) => {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    return findMutants(path, text).map((mutant, index) => {
      const line = `${file} | ${lineAt(text, mutant.start)}`;
      const name = `${line} | ${describe(text, mutant)}`;
      const times = (names.get(name) ?? 0) + 1;
      names.set(name, times);
      const full = times > 1 ? `${name} | ${times}` : name;
      return { ...mutant, id: `${place}.${index}`, path, file, line, name: full };
    });
  });
}

function lineAt(text, start) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  return squeeze(text.slice(from, text.indexOf("\n", start)));
}

function describe(text, { start, end, becomes, isStatement }) {
  const original = text.slice(start, end);
  if (isStatement) return "dropped";
  if (!original.includes("\n") || !becomes.includes("\n")) {
    return `${squeeze(original)} → ${squeeze(becomes)}`;
  }
  // A line of a query.
  const lines = original.split("\n");
  const changed = becomes.split("\n");
  const at = lines.findIndex((line, index) => line !== changed[index]);
  return `${squeeze(lines[at] ?? original)} → ${squeeze(changed[at] ?? becomes)}`;
}

function squeeze(text) {
  return text.trim().replaceAll(/\s+/g, " ");
}
