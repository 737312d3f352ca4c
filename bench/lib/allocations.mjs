// What a server allocates per run and per delta. With a young generation that is larger than all it
// makes meanwhile nothing is collected, so the growth of the heap is what was allocated: a count that
// hardly differs from one run of this to the next, on a busy machine too.
import { startChild } from "./child.mjs";
import { subjectUrl } from "./peers.mjs";
import { requests } from "./requests.mjs";
import { median } from "./stats.mjs";

const flags = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];
// A run with next to nothing in it: what a run costs apart from its deltas is measured, not found as a small
// difference of two large figures.
const empty = { deltas: 2, runs: 500 };
const short = { deltas: 200, runs: 60 };
const long = { deltas: 1_000, runs: 20 };

/** Bytes per delta, and per run apart from its deltas. */
export async function allocationsOf(module, load, env = {}) {
  const perEmpty = await bytesPerRun(module, load, { ...empty, env });
  const perShort = await bytesPerRun(module, load, { ...short, env });
  const perLong = await bytesPerRun(module, load, { ...long, env });
  const perDelta = (perLong - perShort) / (long.deltas - short.deltas);
  return { perDelta, perRun: perEmpty - perDelta * empty.deltas };
}

async function bytesPerRun(module, load, { deltas, runs, env }) {
  const child = startChild("serve.mjs", [subjectUrl(module)], {
    env: { BENCH_WORK: JSON.stringify({ deltas }), ...env },
    execArgv: flags,
  });
  try {
    const { port } = await child.ready();
    const task = { type: "drive", port, connections: 1, maxMs: 60_000, request: requests.agui };
    // Compiled code allocates less than interpreted code: enough runs that all of it is.
    await load.ask({ ...task, runs: Math.min(Math.ceil(80_000 / deltas), 6_000) });
    const seen = [];
    for (let round = 0; round < 3; round++) {
      const before = await child.ask({ collect: true });
      await load.ask({ ...task, runs });
      const after = await child.ask({});
      seen.push((after.heapUsed - before.heapUsed) / runs);
    }
    return median(seen);
  } finally {
    await child.end();
  }
}
