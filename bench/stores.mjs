// What a store can take, and what keeping a log costs a stream: appended events per second in memory, on SQLite,
// Redis and PostgreSQL; the time of one streamed delta with a log against one without; for another process, the
// time in which a client attaches to a run, resumes at its end, and receives an event. Prints a table at the end.
import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { createAgentHandler } from "@holodeck/agui";
import { defaultLimits, systemClock } from "@holodeck/agui-core";
import { createTicker, LiveRun } from "@holodeck/agui-core/internal";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { openAt, openStores } from "./lib/open-store.mjs";
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
const longRun = 12_000;
let names = 0;

const stores = await openStores(console.error);
const table = [];
try {
  await measureAppends();
  await measureStream();
  await measureAttach();
  await measureResume();
  await measureNotice();
  printTable();
} finally {
  for (const { end } of stores) await end();
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
    const label = `${runs} run${runs > 1 ? "s" : ""}, ${batch} per batch`;
    report(label, rates, (rate) => `${whole(rate)} events/s`);
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
  console.log(`  without a log ${(bare * 1_000).toFixed(2)} µs per delta`);
  report(
    "one streamed delta, against none stored",
    costs,
    (cost) => `${(cost / bare).toFixed(2)} times`,
  );
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

// A client without an offset, at a run of 12,000 events that another process owns: until the state of the run is there.
async function measureAttach() {
  console.log(`attach to a run with ${longRun} events through another process:`);
  const times = await inTurns(shared(), async (kind) => {
    const { ms } = await join(kind, {});
    return ms;
  });
  report("attach to a long run", times, milliseconds);
}

// The same with the offset of its last event but one.
async function measureResume() {
  console.log(`resume at the last of ${longRun} events through another process:`);
  const reads = new Map();
  const times = await inTurns(shared(), async (kind) => {
    const joined = await join(kind, { "last-event-id": String(longRun - 1) });
    reads.set(kind.name, joined.reads);
    return joined.ms;
  });
  report("resume at the end of it", times, milliseconds);
  report("reads of the log for it", reads, String);
}

// How a client that another process serves comes to its first frame.
async function join({ name, at, store }, headers) {
  const key = nextKey();
  const lease = await store.runs.open(key, { agentId: "bench" });
  for (let from = 1; from <= longRun; from += 500) {
    const entries = Array.from({ length: 500 }, (_, index) => {
      const offset = from + index;
      const event = { type: "CUSTOM", name: "n", value: offset };
      return { from: offset, to: offset, at: offset, event };
    });
    await store.runs.append(lease, entries);
  }
  const other = await openAt(name, at);
  await other.store.count?.();
  const counted = countReads(other.store);
  const handler = createAgentHandler(() => [], { sessions: counted.store, logger: silent });
  const url = `http://bench.local/agui/runs/${key.runId}/events`;
  const ms = await timed(async () => {
    const response = await handler.fetch(new Request(url, { headers }));
    const reader = response.body.getReader();
    await reader.read();
    await reader.cancel();
  });
  const terminal = { type: "RUN_FINISHED", threadId: key.threadId, runId: key.runId };
  const end = { from: longRun + 1, to: longRun + 1, at: longRun, event: terminal };
  await store.runs.close(lease, end, "finished");
  await other.close();
  return { ms, reads: counted.reads() };
}

// From the call that appends an event to its arrival in another process that follows the run.
async function measureNotice() {
  console.log("an event to another process that follows the run:");
  const script = new URL("lib/store-follower.mjs", import.meta.url);
  const followers = new Map();
  for (const { name, at } of shared()) {
    const child = fork(script, [name, at]);
    await once(child, "message");
    followers.set(name, child);
  }
  const times = await inTurns(shared(), async ({ name, store }) => {
    const child = followers.get(name);
    const key = nextKey();
    const lease = await store.runs.open(key, { agentId: "bench" });
    child.send({ key });
    const taken = [];
    for (let offset = 1; offset <= 50; offset += 1) {
      const received = once(child, "message");
      const event = { type: "CUSTOM", name: "n", value: offset };
      const sent = performance.timeOrigin + performance.now();
      await store.runs.append(lease, [{ from: offset, to: offset, at: offset, event }]);
      taken.push((await received)[0].at - sent);
    }
    const received = once(child, "message");
    const event = { type: "RUN_FINISHED", threadId: key.threadId, runId: key.runId };
    await store.runs.close(lease, { from: 51, to: 51, at: 51, event }, "finished");
    await received;
    // The first ones come while it begins to follow.
    return median(taken.slice(10));
  });
  for (const child of followers.values()) {
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  }
  report("an event to another process", times, milliseconds);
}

// Those that another process can open, too.
function shared() {
  return stores.filter(({ at }) => at !== undefined);
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

/** Prints the value of each store, and keeps the row for the table. */
function report(label, measured, format) {
  const row = stores.map(({ name }) =>
    measured.has(name) ? format(measured.get(name)).trim() : "–",
  );
  for (const [index, { name }] of stores.entries())
    console.log(`  ${name.padEnd(10)}${row[index]}`);
  table.push([label, ...row]);
}

function printTable() {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  console.log(`\n${line(["", ...stores.map(({ name }) => name)])}`);
  console.log(line(["---", ...stores.map(() => "---:")]));
  for (const row of table) console.log(line(row));
}

function milliseconds(ms) {
  return `${ms.toFixed(2)} ms`;
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
