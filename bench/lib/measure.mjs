// One scenario: every subject once per round, so that noise hits all alike. The first round only warms
// up. Servers have a process each; so has the load.
import { join } from "node:path";
import { startChild } from "./child.mjs";
import { importCost } from "./import-cost.mjs";
import { openFiles } from "./machine.mjs";
import { subjectUrl } from "./peers.mjs";
import { requests } from "./requests.mjs";
import { quantile } from "./stats.mjs";

const serverCore = 0;
const loadCore = 1;
/** So many times the runs of a round warm a server up, on few connections: cold code makes many late. */
const warmUp = 6;

/** Measures a scenario: for each subject and each quantity a number per round. */
export async function measure(scenario, options) {
  const kind = kinds[scenario.type ?? "drive"];
  return kind(scenario, options);
}

const kinds = {
  drive: measureDrive,
  resume: measureDrive,
  hold: measureHold,
  import: measureImport,
};

async function measureDrive(scenario, { rounds, redis, report, profile }) {
  const { connections, unit } = scenario;
  const load = startChild("load.mjs", [], { core: loadCore });
  const subjects = [];
  try {
    for (const one of usable(scenario, redis)) {
      const child = start(scenario, one, { redis, profile });
      subjects.push({ ...one, child, ...(await child.ready()), values: emptyValues() });
    }
    if (scenario.type === "resume") await keepRuns(subjects, load, scenario);
    for (let round = -1; round < rounds; round++) {
      report(`${scenario.name}: ${round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`}`);
      for (const subject of turns(subjects, round)) {
        const work = subject.work ?? scenario.work;
        const isRedis = subject.env?.BENCH_STORE === "redis";
        const redisBefore = isRedis ? await redis.usage() : undefined;
        const before = await subject.child.ask({});
        const seen = await load.ask({
          type: "drive",
          port: subject.port,
          connections: round < 0 ? Math.min(connections, 32) : connections,
          runs: (subject.runs ?? scenario.runs) * (round < 0 ? warmUp : 1),
          // Slow subjects get fewer runs, not more minutes. All get warm: what is compiled late counts double.
          maxMs: round < 0 ? 6_000 : 2_000,
          request: scenario.type === "resume" ? requests.resume : subject.request,
          minBytes: work.deltas * work.size * 0.9,
        });
        const after = await subject.child.ask({});
        if (round < 0) continue;
        const count = seen.runs * work.deltas;
        const { values } = subject;
        values.cpuUs.push((after.cpuUs - before.cpuUs) / count);
        values.perSecond.push((count * 1_000) / seen.ms);
        values.firstP50Ms.push(quantile(seen.firstMs, 0.5));
        values.firstP99Ms.push(quantile(seen.firstMs, 0.99));
        values.rssMb.push(after.rss / 1e6);
        values.bytesPerUnit.push(seen.bytes / count);
        if (scenario.isPaced) {
          values.lateP50Ms.push(quantile(seen.lateMs, 0.5));
          values.lateP99Ms.push(quantile(seen.lateMs, 0.99));
        }
        if (isRedis)
          pushRedis(values, [redisBefore, await redis.usage()], { count, runs: seen.runs });
      }
    }
  } finally {
    await Promise.all([load, ...subjects.map(({ child }) => child)].map((child) => child.end()));
  }
  return { unit, subjects: subjects.map(outcome) };
}

function pushRedis(values, [before, after], { count, runs }) {
  (values.redisKbPerRun ??= []).push((after.memory - before.memory) / runs / 1e3);
  for (const [key, name] of [
    ["cpuUs", "redisCpuUs"],
    ["commands", "redisCommands"],
    ["netBytes", "redisNetBytes"],
  ]) {
    (values[name] ??= []).push((after[key] - before[key]) / count);
  }
}

async function keepRuns(subjects, load, { work }) {
  for (const { port } of subjects) {
    const minBytes = work.deltas * work.size;
    const task = { type: "drive", port, connections: 1, runs: 1, maxMs: 60_000, minBytes };
    await load.ask({ ...task, request: requests.keptRun });
  }
}

// Memory is returned late if at all, so every round has a separate process.
async function measureHold(scenario, { rounds, redis, report, profile }) {
  const most = openFiles() - 500;
  const connections = Math.min(scenario.connections, most);
  const isLimited = connections < scenario.connections;
  if (isLimited) {
    report(
      `${scenario.name}: LIMITED to ${connections} streams by the open files of a process (ulimit -n).`,
    );
  }
  const load = startChild("load.mjs", [], { core: loadCore });
  const subjects = scenario.subjects.map((one) => ({
    ...one,
    values: { memoryKb: [], heapKb: [], openMs: [] },
  }));
  try {
    for (let round = 0; round < rounds; round++) {
      report(`${scenario.name}: round ${round + 1} of ${rounds}`);
      for (const subject of turns(subjects, round)) {
        const child = start(scenario, subject, { redis, profile, execArgv: ["--expose-gc"] });
        try {
          const { port } = await child.ready();
          const { request } = subject;
          await load.ask({ type: "hold", port, connections: 200, request });
          await load.ask({ type: "release" });
          const before = await child.ask({ collect: true });
          const began = performance.now();
          await load.ask({ type: "hold", port, connections, request });
          subject.values.openMs.push((performance.now() - began) / connections);
          const after = await child.ask({ collect: true });
          subject.values.memoryKb.push((after.rss - before.rss) / connections / 1e3);
          const heap = after.heapUsed + after.external - before.heapUsed - before.external;
          subject.values.heapKb.push(heap / connections / 1e3);
        } finally {
          await load.ask({ type: "release" });
          await child.end();
        }
      }
    }
  } finally {
    await load.end();
  }
  return { unit: scenario.unit, connections, isLimited, subjects: subjects.map(outcome) };
}

async function measureImport({ unit, name }, { rounds, report }) {
  const subjects = [
    { name: "rxjs", values: { importMs: [] } },
    { name: "@holodeck/agui", values: { importMs: [] } },
  ];
  for (let round = -1; round < rounds; round++) {
    report(`${name}: ${round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`}`);
    for (const subject of subjects) {
      const micros = importCost(subject.name);
      if (round >= 0) subject.values.importMs.push(micros / 1_000);
    }
  }
  return { unit, subjects: subjects.map(outcome) };
}

/** How long each subject takes from its process to its port, and the CPU of that. */
export async function measureStarts(scenario, { rounds, report, redis }) {
  const starts = new Map(
    scenario.subjects.map(({ name }) => [name, { startMs: [], startCpuMs: [] }]),
  );
  for (let round = 0; round < rounds; round++) {
    report(`${scenario.name}: starting, round ${round + 1} of ${rounds}`);
    for (const subject of turns(scenario.subjects, round)) {
      const child = start(scenario, subject, { redis });
      const { startMs, startCpuMs } = await child.ready();
      starts.get(subject.name).startMs.push(startMs);
      starts.get(subject.name).startCpuMs.push(startCpuMs);
      await child.end();
    }
  }
  return starts;
}

function start(scenario, { name, module, work, env = {} }, { redis, profile, execArgv = [] }) {
  const flags = profile
    ? ["--cpu-prof", `--cpu-prof-dir=${join(profile, scenario.name, name.replaceAll(/\W+/g, "-"))}`]
    : [];
  return startChild("serve.mjs", [subjectUrl(module)], {
    env: {
      BENCH_WORK: JSON.stringify(work ?? scenario.work),
      ...env,
      ...(redis ? { BENCH_REDIS_URL: redis.url } : {}),
    },
    execArgv: [...execArgv, ...flags],
    core: serverCore,
  });
}

// Back and forth, so that no subject is always the first after a pause.
function turns(subjects, round) {
  return round % 2 === 0 ? subjects : subjects.toReversed();
}

function usable({ subjects }, redis) {
  return subjects.filter(({ env }) => redis || env?.BENCH_STORE !== "redis");
}

function emptyValues() {
  return {
    cpuUs: [],
    perSecond: [],
    firstP50Ms: [],
    firstP99Ms: [],
    rssMb: [],
    bytesPerUnit: [],
    lateP50Ms: [],
    lateP99Ms: [],
  };
}

function outcome({ name, base, values }) {
  const known = Object.entries(values).filter(([, rounds]) => rounds.length > 0);
  return { name, ...(base ? { base } : {}), values: Object.fromEntries(known) };
}
