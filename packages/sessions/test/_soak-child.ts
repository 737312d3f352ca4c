/** Measures the memory store in a process of its own. Needs `--expose-gc`; prints one line of JSON. */
import { fakeClock } from "@holodeck/agui-testing";
import type { Message } from "@holodeck/agui-core";
import { memorySessions } from "../src/index.ts";

const threads = 1_000;
const messagesPerThread = 50;
const cycles = 100_000;

const collect = (globalThis as { gc?: () => void }).gc!;

async function heap(): Promise<number> {
  // Twice, with a turn between: what weak references and finalizers hold goes with the second.
  for (let round = 0; round < 2; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

// Read from bytes: a string of its own with no spare parts, as one out of a request's body is.
const text = (label: string, length: number): string =>
  Buffer.from(`${label} `.padEnd(length, "lorem ipsum ")).toString("latin1");

function message(thread: number, index: number): Message {
  const role = index % 2 === 0 ? "user" : "assistant";
  return { id: text(`m${thread}-${index}`, 26), role, content: text(`${index}`, 200) };
}

async function measureThreads(): Promise<{ perThread: number }> {
  const store = memorySessions({ maxSessions: threads });
  const keyOf = (thread: number) => ({ principal: "ann", threadId: `thread-${thread}` });
  const before = await heap();
  for (let thread = 0; thread < threads; thread++) {
    await store.create(keyOf(thread), { agentId: "agent", metadata: { title: `${thread}` } });
    for (let index = 0; index < messagesPerThread; index++) {
      await store.update(keyOf(thread), { append: [message(thread, index)] });
    }
  }
  const full = await heap();
  const { items } = await store.list({ principal: "ann", limit: threads });
  const stored = items.reduce((sum, { size }) => sum + (size?.messages ?? 0), 0);
  if (stored !== threads * messagesPerThread) throw new Error(`Only ${stored} messages are there.`);
  await store.close();
  return { perThread: Math.round((full - before) / threads) };
}

async function measureCycles(): Promise<{ early: number; late: number }> {
  const clock = fakeClock();
  const store = memorySessions({ clock, ttlMs: 1_000, runLogMs: 1_000, maxSessions: 100 });
  let early = 0;
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const key = { principal: `p${cycle % 7}`, threadId: `t${cycle}` };
    await store.create(key, { agentId: "agent" });
    await store.update(key, { append: [message(cycle, 0), message(cycle, 1)] });
    const run = { ...key, runId: `r${cycle}` };
    const lease = await store.runs.open(run, { agentId: "agent" });
    if ("busy" in lease) throw new Error("The thread is new and busy.");
    const left = new AbortController();
    const follower = store.runs.follow(run, 0, left.signal)[Symbol.asyncIterator]();
    const first = follower.next();
    const entry = { at: clock.now(), event: { type: "CUSTOM", name: "n", value: cycle } as never };
    await store.runs.append(lease, [{ from: 1, to: 1, ...entry }]);
    await first;
    left.abort();
    await follower.next();
    await store.runs.close(lease, { from: 2, to: 2, ...entry }, "finished");
    await store.take(key.threadId, 1, { tokens: 5, perMs: 100 });
    // About ten threads live at a time.
    clock.tick(100);
    if (cycle === cycles / 10) early = await heap();
  }
  const late = await heap();
  if (await store.get({ principal: "p1", threadId: "t1" })) throw new Error("It did not expire.");
  await store.close();
  return { early, late };
}

const report = { ...(await measureThreads()), ...(await measureCycles()) };
process.stdout.write(`${JSON.stringify(report)}\n`);
