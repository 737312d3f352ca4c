// A check against regress: allocations and writes, which are counts, and CPU against a hand-written
// server in the same run with a wide tolerance. Never a time. What is allowed stands in budget.json.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { allocationsOf } from "./lib/allocations.mjs";
import { startChild } from "./lib/child.mjs";
import { compareToBudget } from "./lib/compare-to-budget.mjs";
import { cpuRatio, protocolRatio, writesOfRun } from "./lib/guard-measures.mjs";
import { requests } from "./lib/requests.mjs";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true } } });
const { budgets } = JSON.parse(readFileSync(new URL("budget.json", import.meta.url), "utf8"));
const wanted = (name) => !values.only || values.only.includes(name);
const measured = {};
const load = startChild("load.mjs");
try {
  if (wanted("bytesPerDelta") || wanted("bytesPerRun")) {
    const raw = await allocationsOf("raw", load);
    const ours = await allocationsOf("ours", load);
    if (wanted("bytesPerDelta")) measured.bytesPerDelta = ours.perDelta / raw.perDelta;
    // As deltas of raw: what raw needs per run is small.
    if (wanted("bytesPerRun")) measured.bytesPerRun = ours.perRun / raw.perDelta;
    for (const [name, { perDelta, perRun }] of Object.entries({ raw, ours })) {
      console.log(
        `${name}: ${Math.round(perDelta)} bytes per delta, ${Math.round(perRun)} per run`,
      );
    }
  }
  if (wanted("writesPerRun")) measured.writesPerRun = await writesOfRun();
  if (wanted("cpuPerDelta")) measured.cpuPerDelta = await cpuRatio(load);
  const { openaiChat, openaiResponses } = requests;
  for (const [name, request] of Object.entries({ openaiChat, openaiResponses })) {
    const openai = { BENCH_OPENAI: "1" };
    if (wanted(name)) measured[name] = await protocolRatio(load, request, openai);
  }
} finally {
  await load.end();
}

const { lines, faults } = compareToBudget(measured, budgets);
for (const line of lines) console.log(line);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
