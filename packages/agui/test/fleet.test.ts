import { setTimeout as pause } from "node:timers/promises";
import type { Message } from "@holodeck/agui-core";
import { migrate } from "@holodeck/agui-sessions/postgres";
import { readSse } from "@holodeck/agui-testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRedis } from "../../sessions/test/_redis.ts";
import { startPostgres } from "../../sessions/test/_postgres.ts";
import { brief, endless, eventsPerRun, textOf } from "./_fleet-agent.ts";
import { ask, follow, insist, text } from "./_fleet-client.ts";
import type { FollowOptions, Seen } from "./_fleet-client.ts";
import { startFleet } from "./_fleet.ts";
import type { Fleet } from "./_fleet.ts";

const atOnce = 40;
// A process that is alive comes to its turn in this time, on any machine.
const leaseMs = 8_000;

/** A server that the processes share. */
async function startStore(store: "redis" | "postgres", suite: string) {
  if (store === "redis") return startRedis(suite);
  const server = await startPostgres(suite);
  if (server) await migrate({ client: await server.pg() });
  return server;
}

// FLEET_RUNS and FLEET_KILLS set the size for both.
describe.each([
  { name: "Redis", store: "redis", runs: 125, kills: 4 },
  { name: "PostgreSQL", store: "postgres", runs: 60, kills: 3 },
] as const)("three processes on one $name", { timeout: 600_000 }, ({ name, store, ...size }) => {
  const wanted = {
    runs: Number(process.env.FLEET_RUNS ?? size.runs),
    kills: Number(process.env.FLEET_KILLS ?? size.kills),
  };
  let server: Awaited<ReturnType<typeof startStore>>;
  let fleet: Fleet;
  beforeAll(async () => {
    server = await startStore(store, `three processes on one ${name}`);
    if (!server) return;
    fleet = await startFleet({ size: 3, store, storePort: server.port, leaseMs, paceMs: 80 });
  });
  afterAll(async () => {
    await fleet?.close();
    await server?.stop();
  });

  test("lose no event and no thread when one after the other is killed", async (context) => {
    if (!server) return context.skip();
    const began = Date.now();
    const all: Seen[] = [];
    let started = 0;
    let isOver = false;
    // Whoever has to start again needs the cores, too: where that takes long, a few clients are enough to
    // see it, and runs do not pile up.
    const clients = Array.from({ length: atOnce }, async (_, client) => {
      while (started < wanted.runs || (!isOver && client < atOnce / 4)) {
        const number = started++;
        const isEndless = number % 25 === 24;
        all.push(
          await (isEndless ? stopped(number) : follow(fleet.port, `t${number}`, named(number))),
        );
      }
    });
    const killing = (async () => {
      while (fleet.killed.size < wanted.kills || all.length < wanted.runs - atOnce) {
        // In turns, so that the next one has been at work for as long as two others took to start.
        await pause(300);
        await fleet.kill();
      }
      isOver = true;
    })();
    await Promise.all([killing, ...clients]);
    const seconds = (Date.now() - began) / 1_000;

    const finished = all.filter(({ terminals }) => isOutcome(terminals[0], "success"));
    const cancelled = all.filter(({ terminals }) => isOutcome(terminals[0], "cancelled"));
    const lost = all.filter(({ terminals }) => terminals[0]?.code === "run-lost");
    const sum = (of: (seen: Seen) => number): number => all.reduce((n, seen) => n + of(seen), 0);
    const figures = {
      store: name,
      runs: all.length,
      finished: finished.length,
      cancelled: cancelled.length,
      endedAsLost: lost.length,
      eventsMissing: sum(({ missing }) => missing),
      eventsDoubled: sum(({ doubled }) => doubled),
      withoutEnd: all.filter(({ terminals }) => terminals.length === 0).length,
      kills: fleet.killed.size,
      reattaches: sum(({ attaches }) => attaches),
      events: sum(({ events }) => events),
      seconds,
    };
    process.stdout.write(`fleet: ${JSON.stringify(figures)}\n`);
    expect(figures).toMatchObject({ eventsMissing: 0, eventsDoubled: 0, withoutEnd: 0 });

    expect(all.flatMap(({ runId, faults }) => faults.map((fault) => `${runId}: ${fault}`))).toEqual(
      [],
    );
    expect(all.filter(({ terminals }) => terminals.length !== 1)).toEqual([]);
    const rest = all.filter((seen) => ![...finished, ...cancelled, ...lost].includes(seen));
    expect(rest).toEqual([]);
    for (const { runId, text, events } of finished) {
      expect(text, runId).toBe(textOf(runId));
      expect(events, runId).toBe(eventsPerRun);
    }
    for (const { runId, text, owner } of [...cancelled, ...lost]) {
      expect(textOf(runId).startsWith(text), runId).toBe(true);
      if (owner !== undefined && !cancelled.some((one) => one.runId === runId)) {
        expect(fleet.killed.has(owner), `${runId} of ${owner}`).toBe(true);
      }
    }
    expect(cancelled.every(({ runId }) => runId.startsWith(endless))).toBe(true);
    expect(cancelled.length).toBeGreaterThan(0);
    expect(lost.length).toBeGreaterThan(0);
    expect(fleet.complaints).toEqual([]);
    expect(all.length).toBeGreaterThanOrEqual(wanted.runs);
    expect(fleet.killed.size).toBeGreaterThanOrEqual(wanted.kills);

    // What is kept of a run is what it said, whichever process is asked.
    await inTurns(finished, async ({ runId }) => {
      const { response } = await insist(() => ask(fleet.port, `/agui/runs/${runId}/events`), [200]);
      let content: unknown;
      for await (const { data } of readSse(response)) {
        const { messages } = JSON.parse(data) as { messages?: Message[] };
        content = messages?.at(-1)?.content ?? content;
      }
      expect(content, runId).toBe(textOf(runId));
    });
    // No thread is locked, whatever became of its run.
    await inTurns(all, async ({ threadId }) => {
      const body = { threadId, runId: `${brief}${threadId}`, messages: [] };
      const { response } = await insist(() => ask(fleet.port, "/agui", body), [200]);
      expect(await text(response)).toContain("RUN_FINISHED");
    });
  });

  // Every second client comes back a few times of itself, to whichever process it finds.
  function named(number: number): FollowOptions {
    return { runId: `r${number}`, ...(number % 2 === 0 && { patience: 30 + (number % 50) }) };
  }

  // It says half of what it has to say and then waits, for ever.
  async function stopped(number: number): Promise<Seen> {
    let stopping: Promise<unknown> | undefined;
    const seen = await follow(fleet.port, `t${number}`, {
      runId: `${endless}${number}`,
      onEvent: ({ runId, text }) => {
        if (text.length < textOf(runId).length / 4) return;
        const path = `/agui/runs/${runId}/stop`;
        stopping ??= insist(() => ask(fleet.port, path, {}), [200, 202]);
      },
    });
    await stopping;
    return seen;
  }
});

function isOutcome(terminal: unknown, type: string): boolean {
  const { type: event, outcome } = (terminal ?? {}) as {
    type?: string;
    outcome?: { type?: string };
  };
  return event === "RUN_FINISHED" && (outcome?.type ?? "success") === type;
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const one = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
