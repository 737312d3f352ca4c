// How many processes, machines and Redis servers a number of open streams needs: arithmetic on what the
// bench has measured and on assumptions that can be changed.
import { readFileSync } from "node:fs";
import { median } from "../stats.mjs";
import { toText } from "./table.mjs";

/** What is assumed of the users and of the machines. */
export const assumptions = {
  /** Share of the open streams whose model speaks at a time; the others wait. */
  speaking: 0.2,
  /** Deltas per second of one that speaks. */
  rate: 30,
  /** How far a core may be used before things get late. */
  load: 0.6,
  /** Cores of a machine, a process on each. */
  cores: 8,
  /** Gigabytes a process may use for its streams: Node's heap ends near four. */
  heapGb: 2,
  /** Open files of a process; each stream is one. */
  files: 65_536,
  /** Share of a Redis server's one core that may be used. */
  redisLoad: 0.5,
  /** Gigabytes a Redis server may use for the logs and threads of running and just finished runs. */
  redisGb: 16,
  /** Seconds of a run, and seconds for which its log is kept afterwards. */
  runSeconds: 30,
  keptSeconds: 300,
};

const sizes = [1_000, 10_000, 100_000, 1_000_000];

/** The record that the docs stand on. */
export function readRecord() {
  return JSON.parse(readFileSync(new URL("../../results/latest.json", import.meta.url), "utf8"));
}

/** The measured figures the arithmetic needs. */
export function inputsOf({ scenarios }) {
  const value = (scenario, subject, key) => {
    const found = scenarios[scenario]?.subjects.find(({ name }) => name === subject)?.values[key];
    if (!found) throw new Error(`The results have no ${key} of "${subject}" in ${scenario}.`);
    return median(found);
  };
  const redis = (key) => value("stores-paced", "ours, redis", key);
  return {
    memoryKb: value("idle", "ours", "memoryKb"),
    cpuUs: value("stores-paced", "ours, memory", "cpuUs"),
    cpuRedisUs: redis("cpuUs"),
    redisCpuUs: redis("redisCpuUs"),
    redisKbPerRun: redis("redisKbPerRun"),
    wireBytes: value("stores-paced", "ours, memory", "bytesPerUnit"),
  };
}

/** What a number of open streams needs. */
export function simulate(streams, inputs, given = assumptions) {
  const deltas = streams * given.speaking * given.rate;
  const processes = largest({
    CPU: (deltas * inputs.cpuRedisUs) / 1e6 / given.load,
    memory: (streams * inputs.memoryKb) / (given.heapGb * 1e6),
    files: streams / given.files,
  });
  const kept = streams * (1 + given.keptSeconds / given.runSeconds);
  const redis = largest({
    CPU: (deltas * inputs.redisCpuUs) / 1e6 / given.redisLoad,
    memory: (kept * inputs.redisKbPerRun) / (given.redisGb * 1e6),
  });
  return {
    streams,
    deltas,
    processes,
    machines: Math.ceil(processes.count / given.cores),
    redis,
    gigabits: (deltas * inputs.wireBytes * 8) / 1e9,
    memoryGb: (streams * inputs.memoryKb) / 1e6,
  };
}

function largest(needs) {
  const [limit, need] = Object.entries(needs).reduce((a, b) => (b[1] > a[1] ? b : a));
  return { count: Math.max(1, Math.ceil(need)), limit: need <= 1 ? "–" : limit };
}

/** The table of the docs. */
export function showSimulation(record, given = assumptions) {
  const inputs = inputsOf(record);
  const measured =
    `measured: ${inputs.memoryKb.toFixed(1)} KB per open stream; per delta ${inputs.cpuUs.toFixed(1)} µs ` +
    `of CPU in memory, ${inputs.cpuRedisUs.toFixed(1)} µs with Redis, ${inputs.redisCpuUs.toFixed(1)} µs ` +
    `in Redis, ${Math.round(inputs.wireBytes)} bytes sent; ${inputs.redisKbPerRun.toFixed(1)} KB in Redis per run`;
  const assumed =
    `assumed: ${given.speaking * 100} % of the streams speak, ${given.rate} deltas/s each; ` +
    `cores used to ${given.load * 100} %, Redis to ${given.redisLoad * 100} %; ${given.cores} cores a machine; ` +
    `${given.heapGb} GB and ${given.files.toLocaleString("en")} files a process; ${given.redisGb} GB a Redis; ` +
    `runs of ${given.runSeconds} s, logs kept ${given.keptSeconds} s`;
  const header = [
    "open streams",
    "deltas/s",
    "memory",
    "sent",
    "processes",
    "bound by",
    "machines",
    "Redis servers",
    "bound by",
  ];
  const rows = sizes.map((streams) => {
    const found = simulate(streams, inputs, given);
    return [
      whole(streams),
      whole(found.deltas),
      `${short(found.memoryGb)} GB`,
      `${short(found.gigabits)} Gbit/s`,
      whole(found.processes.count),
      found.processes.limit,
      whole(found.machines),
      whole(found.redis.count),
      found.redis.limit,
    ];
  });
  return `${wrap(measured)}\n${wrap(assumed)}\n\n${toText([header, ...rows])}`;
}

function wrap(text) {
  let line = "";
  const lines = [];
  for (const word of text.split(" ")) {
    if (line.length + word.length > 98) {
      lines.push(line.trimEnd());
      line = "  ";
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()].join("\n");
}

function whole(number) {
  return Math.round(number).toLocaleString("en");
}

function short(number) {
  return number >= 10 ? whole(number) : number.toPrecision(2);
}
