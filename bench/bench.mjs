// `npm run bench`: what serving a delta costs, ours and others', as ratios to a hand-written server in
// the same run. Server and load are separate processes; subjects take turns within each round.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startChild } from "./lib/child.mjs";
import { median, quantile, spread } from "./lib/stats.mjs";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", default: "burst" },
    subjects: { type: "string", default: "raw,ours,ours-middleware" },
    rounds: { type: "string", default: "5" },
    scale: { type: "string", default: "1" },
    deltas: { type: "string", default: "200" },
    profile: { type: "string" },
  },
});

const body = {
  threadId: "t<id>",
  runId: "r<id>",
  protocolVersion: "1.0",
  messages: [{ id: "m1", role: "user", content: "hi" }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
};
const scenarios = {
  burst: {
    work: { deltas: Number(values.deltas), size: 20 },
    connections: 16,
    runs: 600,
  },
  paced: { work: { deltas: 200, size: 24, everyMs: 5 }, connections: 300, runs: 300 },
};
const { work, connections, runs } = scenarios[values.scenario];
const load = startChild("load.mjs");
const subjects = [];
for (const name of values.subjects.split(",")) {
  const execArgv = values.profile
    ? ["--cpu-prof", `--cpu-prof-dir=${join(values.profile, name)}`]
    : [];
  const child = startChild("serve.mjs", [name], {
    env: { BENCH_WORK: JSON.stringify(work) },
    execArgv,
  });
  subjects.push({ name, child, ...(await child.ready()), cost: [], late: [], first: [] });
}
const rounds = Number(values.rounds);
for (let round = -1; round < rounds; round++) {
  for (const subject of subjects) {
    const before = await subject.child.ask("usage");
    const task = {
      port: subject.port,
      path: "/agui",
      connections,
      runs: Math.ceil(runs * Number(values.scale)),
      body,
    };
    const seen = await load.ask(task);
    const after = await subject.child.ask("usage");
    if (round < 0) continue;
    subject.cost.push((after.cpuUs - before.cpuUs) / (seen.runs * Math.max(1, work.deltas)));
    subject.first.push(quantile(seen.firstMs, 0.5));
    subject.late.push(quantile(seen.lateMs, 0.99));
    subject.rss = after.rss;
  }
}
const base = subjects[0];
for (const { name, cost, first, late, rss, startCpuMs } of subjects) {
  const us = median(cost);
  console.log(
    name.padEnd(18),
    `${us.toFixed(2)} µs/delta`,
    `${(us / median(base.cost)).toFixed(2)} x ±${(spread(cost) * 100).toFixed(0)} %`,
    `first ${median(first).toFixed(2)} ms`,
    `late p99 ${median(late).toFixed(2)} ms`,
    `${(rss / 1e6).toFixed(0)} MB`,
    `start ${startCpuMs.toFixed(0)} ms CPU`,
  );
}
for (const { child } of subjects) child.end();
load.end();
