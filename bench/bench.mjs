// `npm run bench [-- --quick] [scenario …]`: what serving costs, ours and others', as ratios to a
// hand-written server in the same run. Server and load are separate processes; subjects take turns.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildIfNeeded } from "./lib/build.mjs";
import { judge, showGoals } from "./lib/report/goals.mjs";
import { sizeOfLinked, sizeOfLocked } from "./lib/installed.mjs";
import { describeMachine, describeVersions } from "./lib/machine.mjs";
import { measure, measureStarts } from "./lib/measure.mjs";
import { installPeers, peersFolder } from "./lib/peers.mjs";
import { startRedis } from "./lib/redis-server.mjs";
import { installs, scenarios } from "./lib/scenarios.mjs";
import { toRows, toText } from "./lib/report/table.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    scenario: { type: "string", multiple: true, default: [] },
    subjects: { type: "string" },
    rounds: { type: "string" },
    json: { type: "string" },
    profile: { type: "string" },
  },
});
const rounds = Number(options.rounds ?? (options.quick ? 2 : 5));
const wanted = [...positionals, ...options.scenario.flatMap((names) => names.split(","))];
const unknown = wanted.filter((name) => !scenarios.some((one) => one.name === name));
if (unknown.length > 0 || !(rounds >= 1)) {
  const names = scenarios.map(({ name }) => name).join(", ");
  console.error(`No scenario "${unknown.join('", "')}". Expected one of: ${names}.`);
  process.exit(1);
}
const only = options.subjects?.split(";");
const named = new Set(scenarios.flatMap(({ subjects = [] }) => subjects.map(({ name }) => name)));
const strangers = only?.filter((name) => !named.has(name)) ?? [];
if (strangers.length > 0) {
  console.error(`No subject "${strangers.join('", "')}". There are: ${[...named].join("; ")}.`);
  process.exit(1);
}
const chosen = scenarios
  .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  .map((one) =>
    only && one.subjects
      ? { ...one, subjects: one.subjects.filter(({ name }) => only.includes(name)) }
      : one,
  );
const began = Date.now();
const report = (text) =>
  console.error(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);

// An explicit exit also ends Redis; servers and load end with their parent.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

await buildIfNeeded(report);
const hasPeers = chosen.some(({ subjects = [] }) =>
  subjects.some(({ module }) => module.startsWith("peers/")),
);
if (hasPeers) installPeers(report);
const needsRedis = chosen.some(({ subjects = [] }) =>
  subjects.some(({ env }) => env?.BENCH_STORE === "redis"),
);
const redis = needsRedis ? await startRedis(report) : undefined;
const results = {};
try {
  for (const scenario of chosen) {
    const settings = { rounds, redis, report, profile: options.profile };
    try {
      const result = await measure(scenario, settings);
      if (scenario.hasStart) await addStarts(scenario, result, settings);
      results[scenario.name] = { title: scenario.title, ...result };
      console.log(`\n${scenario.title}\n${toText(toRows(result))}\n`);
    } catch (error) {
      // The others are worth their minutes all the same.
      console.error(`NOT MEASURED: ${scenario.name}. ${error.message}`);
      process.exitCode = 1;
    }
  }
} finally {
  await redis?.end();
}

const goals = judge(results, { isPart: only !== undefined });
console.log(
  `Goals: medians of ${rounds} rounds, least and greatest beside them\n${showGoals(goals)}`,
);
writeResults();
report("done");

async function addStarts(scenario, result, settings) {
  const starts = await measureStarts(scenario, settings);
  for (const subject of result.subjects) {
    Object.assign(subject.values, starts.get(subject.name));
    const roots = installs[subject.name];
    if (!roots) continue;
    const { packages, bytes } =
      subject.name === "ours"
        ? sizeOfLinked(fileURLToPath(new URL(".", import.meta.url)), roots)
        : sizeOfLocked(peersFolder, roots);
    Object.assign(subject.values, { packages: [packages], installedMb: [bytes / 1e6] });
  }
}

// Only a whole run with all its rounds becomes the record; others are written to the given file.
function writeResults() {
  const isRecord = wanted.length === 0 && !only && rounds >= 5;
  const file =
    options.json ??
    (isRecord ? fileURLToPath(new URL("results/latest.json", import.meta.url)) : "");
  if (!file) return;
  const names = hasPeers ? Object.values(installs).flat() : [];
  const record = {
    date: new Date().toISOString().slice(0, 10),
    rounds,
    machine: describeMachine(),
    versions: describeVersions(names),
    scenarios: results,
    goals,
  };
  writeFileSync(file, `${JSON.stringify(record, (_, value) => rounded(value), 1)}\n`);
  report(`wrote ${options.json ?? "bench/results/latest.json"}`);
}

function rounded(value) {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}
