// What a store can take, and what keeping a log costs a stream: appended events per second in memory,
// on SQLite and on Redis, the time of one streamed delta with a log against one without, and how often a log is
// read for a client that resumes at its end through another process.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAgentHandler } from "@holodeck/agui";
import { defaultLimits, systemClock } from "@holodeck/agui-core";
import { createTicker, LiveRun } from "@holodeck/agui-core/internal";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { memorySessions } from "@holodeck/agui-sessions";
import { startRedis } from "./lib/redis-server.mjs";
import { median } from "./lib/stats.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    events: { type: "string", default: "20000" },
    max: { type: "string" },
  },
});
const rounds = Math.max(3, Number(values.rounds));
const events = Math.max(1_000, Number(values.events));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const delta = "Ein Wort ";
let names = 0;

const stores = [memory(), await sqlite(), await redis()].filter(Boolean);
try {
  await measureAppends();
  await measureStream();
  await measureResume();
} finally {
  for (const { store, end } of stores) {
    await store.close();
    await end?.();
  }
}

async function measureAppends() {
  const shapes = [
    { runs: 1, batch: 1, total: events / 10 },
    { runs: 1, batch: 16, total: events },
    { runs: 50, batch: 16, total: events * 2 },
  ];
  for (const { runs, batch, total } of shapes) {
    console.log(`append, ${runs} run${runs > 1 ? "s" : ""} at once, ${batch} per batch:`);
    const rates = await inTurns(stores, async ({ store }) => {
      const count = Math.ceil(total / runs / batch);
      const ms = await timed(() =>
        Promise.all(Array.from({ length: runs }, () => appendRun(store, count, batch))),
      );
      return (count * batch * runs * 1_000) / ms;
    });
    for (const { name } of stores) {
      console.log(`  ${name.padEnd(8)}${whole(rates.get(name))} events/s`);
    }
  }
}

async function appendRun(store, count, batch) {
  const key = nextKey();
  const lease = await store.runs.open(key, { agentId: "bench" });
  let offset = 0;
  const next = (event) => {
    offset += 1;
    return { from: offset, to: offset, at: offset, event };
  };
  await store.runs.append(lease, [next({ type: "TEXT_MESSAGE_START", messageId: "m" })]);
  for (let at = 0; at < count; at += 1) {
    const entries = Array.from({ length: batch }, () =>
      next({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta }),
    );
    await store.runs.append(lease, entries);
  }
  const { threadId, runId } = key;
  await store.runs.close(lease, next({ type: "RUN_FINISHED", threadId, runId }), "finished");
}

async function measureStream() {
  const kinds = [{ name: "no log" }, ...stores];
  const costs = await inTurns(kinds, async ({ store }) => (await streamRun(store)) / events);
  const bare = costs.get("no log");
  console.log(`stream, one run of ${events} deltas to one client:`);
  for (const { name } of kinds) {
    const ratio = (costs.get(name) / bare).toFixed(2);
    console.log(
      `  ${name.padEnd(8)}${(costs.get(name) * 1_000).toFixed(2)} µs per delta, ${ratio} times that without a log`,
    );
  }
  if (values.max === undefined) return;
  const ratio = costs.get("memory") / bare;
  if (ratio <= Number(values.max)) return;
  console.error(`In memory the ratio is over ${values.max}.`);
  process.exitCode = 1;
}

async function streamRun(store) {
  const key = nextKey();
  const lease = await store?.runs.open(key, { agentId: "bench" });
  const { threadId, runId } = key;
  const input = { threadId, runId, messages: [], tools: [], context: [], state: {} };
  async function* agent() {
    for (let at = 0; at < events; at += 1) yield delta;
  }
  const run = new LiveRun(
    {
      agent,
      input,
      middleware: [],
      context: { threadId, runId, agentId: "bench", requestId: "bench", tools: [] },
      ...(store ? { log: { runs: store.runs, lease } } : {}),
    },
    {
      limits: defaultLimits,
      clock: systemClock,
      ticker: createTicker(systemClock, 1_000),
      logger: silent,
      heartbeatMs: 15_000,
      onDisconnect: "abort",
      debug: false,
      strict: false,
    },
  );
  const sink = { pending: 0, write: () => true, end() {}, destroy() {} };
  return timed(async () => {
    run.follow(aguiSseEncoder({ protocolVersion: "1.0" }), sink);
    const { error } = await run.done;
    if (error) throw error;
  });
}

// A run of 12,000 events that goes on, and a second server that does not own it.
async function measureResume() {
  const last = 12_000;
  console.log(`resume at the last of ${last} events through another process:`);
  const reads = new Map();
  const times = await inTurns(stores, async ({ name, store }) => {
    const key = nextKey();
    const lease = await store.runs.open(key, { agentId: "bench" });
    for (let from = 1; from <= last; from += 500) {
      const entries = Array.from({ length: 500 }, (_, at) => {
        const offset = from + at;
        const event = { type: "CUSTOM", name: "n", value: offset };
        return { from: offset, to: offset, at: offset, event };
      });
      await store.runs.append(lease, entries);
    }
    const counted = countReads(store);
    const handler = createAgentHandler(() => [], { sessions: counted.store, logger: silent });
    const headers = { "last-event-id": String(last - 1) };
    const url = `http://bench.local/agui/runs/${key.runId}/events`;
    const ms = await timed(async () => {
      const response = await handler.fetch(new Request(url, { headers }));
      const reader = response.body.getReader();
      await reader.read();
      await reader.cancel();
    });
    reads.set(name, counted.reads());
    const terminal = { type: "RUN_FINISHED", threadId: key.threadId, runId: key.runId };
    const end = { from: last + 1, to: last + 1, at: last, event: terminal };
    await store.runs.close(lease, end, "finished");
    return ms;
  });
  for (const { name } of stores) {
    const ms = times.get(name).toFixed(2);
    console.log(`  ${name.padEnd(8)}${reads.get(name)} reads and ${ms} ms until the frame`);
  }
}

// What is read with `read`, and what `follow` gives out: for each there is one look at the log.
function countReads(store) {
  let reads = 0;
  const runs = {
    ...store.runs,
    read(...args) {
      reads += 1;
      return store.runs.read(...args);
    },
    async *follow(...args) {
      for await (const entries of store.runs.follow(...args)) {
        reads += 1;
        yield entries;
      }
    },
  };
  return { store: { ...store, runs }, reads: () => reads };
}

// Every kind once per round, so that noise hits all alike; the first round only warms up.
async function inTurns(kinds, measure) {
  const seen = new Map(kinds.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const kind of kinds) {
      const value = await measure(kind);
      if (round >= 0) seen.get(kind.name).push(value);
    }
  }
  return new Map([...seen].map(([name, numbers]) => [name, median(numbers)]));
}

function memory() {
  return { name: "memory", store: memorySessions() };
}

async function sqlite() {
  const { sqliteSessions } = await import("@holodeck/agui-sessions/sqlite");
  const folder = mkdtempSync(join(tmpdir(), "agui-bench-"));
  const end = () => rmSync(folder, { recursive: true, force: true });
  return { name: "sqlite", store: sqliteSessions({ path: join(folder, "bench.db") }), end };
}

async function redis() {
  const server = await startRedis(console.error);
  if (!server) return undefined;
  const { redisSessions } = await import("@holodeck/agui-sessions/redis");
  return { name: "redis", store: redisSessions({ client: server.client }), end: server.end };
}

function nextKey() {
  names += 1;
  return { principal: "", threadId: `t${names}`, runId: `r${names}` };
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function whole(number) {
  return Math.round(number).toLocaleString("en").padStart(11);
}
