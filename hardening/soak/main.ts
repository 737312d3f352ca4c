// `npm run soak -- --minutes 20`: a server under everything that clients do, and whether it is afterwards as it was.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRandom } from "../fuzz/random.ts";
import { format, judge } from "./bounds.ts";
import type { Sample } from "./bounds.ts";
import { createClient, scenarios } from "./load.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    clients: { type: "string", default: "6" },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0) || !(clients > 0)) {
  console.error("Usage: npm run soak -- [--minutes 20] [--clients 6] [--seed 1]");
  process.exit(2);
}
const begun = performance.now();
const elapsed = (): number => (performance.now() - begun) / 60_000;
const counts = new Map<string, number>();
const random = createRandom(Number(values.seed));
const child = startServer();
const { port } = (await next(child)) as { port: number };
const client = createClient(port);
const samples: Sample[] = [];
// At most 40 samples, and at least a dozen.
const roundMs = Math.max((minutes * 60_000) / 40, Math.min(4_000, (minutes * 60_000) / 14));
const delay = monitorEventLoopDelay({ resolution: 10 });

console.log(
  `${minutes} min, ${clients} clients, seed ${values.seed}, ${Object.keys(scenarios).length} scenarios`,
);
console.log(" min   heap MB   p99 ms  handles  runs");
// A busy machine takes longer for the samples that a judgement needs.
while (elapsed() < minutes || samples.length < 9) {
  const until = performance.now() + roundMs;
  delay.enable();
  await Promise.all(Array.from({ length: clients }, () => loadUntil(until)));
  delay.disable();
  child.send("sample");
  const seen = (await next(child)) as Omit<Sample, "minutes" | "clientP99">;
  const sample = { ...seen, minutes: elapsed(), clientP99: delay.percentile(99) / 1e6 };
  delay.reset();
  samples.push(sample);
  const handles = Object.values(sample.resources).reduce((sum, count) => sum + count, 0);
  const cells = [
    sample.minutes.toFixed(1),
    (sample.heapBytes / 1e6).toFixed(2),
    sample.p99.toFixed(0),
    handles,
    sample.runs,
  ];
  const widths = [4, 10, 9, 9, 6];
  console.log(cells.map((cell, at) => String(cell).padStart(widths[at]!)).join(""));
}
child.send("close");
const { resources } = (await next(child)) as Pick<Sample, "resources">;
const { heap, broken } = judge(samples, resources);
const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
console.log(
  `${total} exchanges: ${[...counts].map(([name, count]) => `${name} ${count}`).join(", ")}`,
);
console.log(`heap after collection: ${format(heap)} MB a minute (95 % confidence)`);
const p99 = Math.max(...samples.slice(Math.floor(samples.length / 3)).map((one) => one.p99));
console.log(
  `event loop: p99 at most ${p99.toFixed(0)} ms; left after closing: ${JSON.stringify(resources)}`,
);
for (const one of broken) console.log(`BROKEN: ${one}`);
console.log(`soak: ${broken.length === 0 ? "held" : "broken"}`);
process.exit(broken.length === 0 ? 0 : 1);

function startServer(): ChildProcess {
  const started = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [], {
    execArgv: [...process.execArgv, "--expose-gc"],
  });
  started.once("exit", (code, signal) => {
    if (code === 0) return;
    console.log(`BROKEN: the server ended (${code ?? signal})`);
    process.exit(1);
  });
  return started;
}

async function next(from: ChildProcess): Promise<unknown> {
  return ((await once(from, "message")) as [unknown])[0];
}

async function loadUntil(end: number): Promise<void> {
  const names = Object.keys(scenarios);
  while (performance.now() < end) {
    const name = random.pick(names);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await scenarios[name]!(client, random);
  }
}
