// Our handler as a host would write it: nothing switched off. The environment selects what surrounds
// it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agui, createAgentHandler, mapEvents, vercel } from "@holodeck/agui";
import { changedKey, firstState, toolEvents, words, work } from "./_work.mjs";

const { BENCH_MIDDLEWARE, BENCH_OPENAI, BENCH_PLANT, BENCH_STORE, BENCH_TEXT, BENCH_REDIS_URL } =
  process.env;

/** The handler, ready for its first request. */
export async function createSubject() {
  const handler = createAgentHandler(agents[work.kind] ?? words, {
    middleware: middleware(),
    limits: { maxSessions: 1_000_000 },
    ...(BENCH_TEXT ? { protocols: [vercel({ protocol: "text" })] } : {}),
    ...(BENCH_OPENAI ? { protocols: await withOpenAi() } : {}),
    ...(await sessions()),
  });
  await handler.start();
  return handler;
}

async function withOpenAi() {
  const { openai } = await import("@holodeck/agui-openai");
  return [agui(), openai()];
}

const agents = {
  tools: (input) => toolEvents(input.runId),
  async state(_input, { state }) {
    state.set(firstState());
    for (let step = 0; step < work.deltas; step++) {
      const key = changedKey(step);
      await state.update((draft) => void (draft[key] = step));
    }
  },
  async stateSet(_input, { state }) {
    let now = firstState();
    state.set(now);
    for (let step = 0; step < work.deltas; step++) {
      now = { ...now, [changedKey(step)]: step };
      await state.set(now);
    }
  },
};

function middleware() {
  // The guard's own test: a change that copies every event must be noticed.
  if (BENCH_PLANT === "copy") return [mapEvents((event) => structuredClone(event))];
  return Array.from({ length: Number(BENCH_MIDDLEWARE ?? 0) }, () => mapEvents((event) => event));
}

async function sessions() {
  if (BENCH_STORE === "sqlite") {
    const { sqliteSessions } = await import("@holodeck/agui-sessions/sqlite");
    const folder = mkdtempSync(join(tmpdir(), "agui-bench-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    return { sessions: sqliteSessions({ path: join(folder, "bench.db") }) };
  }
  if (BENCH_STORE === "redis") {
    const { createClient } = await import("redis");
    const { redisSessions } = await import("@holodeck/agui-sessions/redis");
    const client = await createClient({ url: BENCH_REDIS_URL }).connect();
    // On a machine that is busy with something else, late is not away.
    return { sessions: redisSessions({ client, commandMs: 10_000 }) };
  }
  return {};
}
