import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  DisconnectPolicy,
  RunAgentInput,
  RunContext,
  SessionStore,
} from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { cuttingProxy } from "../../client/test/_cutting-proxy.ts";
import { createRandom } from "../../../hardening/fuzz/random.ts";
import { createAgentHandler } from "../src/index.ts";
import { chaosStores, Progress } from "./_chaos.ts";
import type { ChaosStore, ChaosTimes } from "./_chaos.ts";
import { brief, pieceCount, pieceLength, pieceOf, textOf } from "./_fleet-agent.ts";
import { ask, follow, insist, text } from "./_fleet-client.ts";
import type { Seen } from "./_fleet-client.ts";
import { memoryLogger } from "./_helpers.ts";

// CHAOS_RUNS=300 CHAOS_SEED=7 npx vitest run packages/agui/test/chaos.test.ts prints the figures of a longer run.
const runs = Number(process.env.CHAOS_RUNS ?? 24);
const seed = Number(process.env.CHAOS_SEED ?? 20261118);
const atOnce = 8;
// How many pieces an agent may have sent that its client has not received.
const ahead = 40;
const timeout = 600_000;
// On a busy machine late is not away.
const patient = { leaseMs: 60_000, commandMs: 20_000 };
const limits = { appendMs: 60_000 };
const brisk = { leaseMs: 2_000, commandMs: 1_000 };

const clients = [{ protocolVersion: "1.0" }, {}];

interface Chaos {
  readonly stores: readonly SessionStore[];
  readonly onDisconnect?: DisconnectPolicy;
  /** Done to the database when a quarter, a half and three quarters of all text was made. */
  readonly fault?: (() => Promise<unknown>) | undefined;
}

/** What became of one answer. */
type Fate = "whole" | "cancelled" | "short" | "wrong" | `error ${string}`;

/** Servers behind a proxy that cuts connections at random bytes, and clients that come back until they have an end. */
async function endure({ stores, onDisconnect, fault }: Chaos) {
  const random = createRandom(seed);
  const made = new Progress();
  const received = new Map<string, Progress>();
  const receivedOf = (runId: string): Progress =>
    received.get(runId) ?? received.set(runId, new Progress()).get(runId)!;
  async function* agent({ runId }: RunAgentInput, { signal }: RunContext): AsyncGenerator {
    if (runId.startsWith(brief)) return yield "here";
    yield { type: "CUSTOM", name: "owner", value: 1 };
    for (let index = 0; index < pieceCount; index++) {
      // Not far ahead of its client: connections are cut, and the database fails, while it is at work.
      await receivedOf(runId).reach(index - ahead, signal);
      await nextTurn();
      yield { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: pieceOf(runId, index) };
      made.steps++;
    }
  }
  const servings = await Promise.all(
    stores.map(async (sessions) => {
      const handler = createAgentHandler(agent as never, {
        sessions,
        logger: memoryLogger(),
        limits,
        ...(onDisconnect && { onDisconnect }),
      });
      return serve(handler, { port: 0, host: "127.0.0.1" });
    }),
  );
  const urls = servings.map(({ port }) => `http://127.0.0.1:${port}`);
  // Up to twice the length of an answer: some connections are not cut, and some before their first byte.
  const proxy = await cuttingProxy(urls, () => random.below(40_000));
  onTestFinished(async () => {
    await proxy.close();
    await Promise.all(servings.map((serving) => serving.close({ drainMs: 0 })));
  });

  const cutting = Number(new URL(proxy.url).port);
  const seen: Seen[] = [];
  let started = 0;
  const asking = Array.from({ length: atOnce }, async () => {
    while (started < runs) {
      const number = started++;
      const input = clients[number % clients.length]!;
      const onEvent = ({ runId, text: said }: Seen): void => {
        receivedOf(runId).steps = said.length / pieceLength;
      };
      seen.push(await follow(cutting, `t${number}`, { runId: `r${number}`, input, onEvent }));
    }
  });
  const answered = Promise.all(asking);
  let faults = 0;
  for (const part of fault ? [0.25, 0.5, 0.75] : []) {
    await Promise.race([made.reach(runs * pieceCount * part), answered]);
    if (seen.length === runs) break;
    await fault!();
    faults++;
  }
  await answered;
  const fates = new Map(seen.map((one) => [one.runId, fateOf(one)]));
  const counted: Record<string, number> = {};
  for (const fate of fates.values()) counted[fate] = (counted[fate] ?? 0) + 1;
  const sum = (of: (one: Seen) => number): number => seen.reduce((n, one) => n + of(one), 0);
  const figures = {
    answers: seen.length,
    ...counted,
    eventsMissing: sum(({ missing }) => missing),
    eventsDoubled: sum(({ doubled }) => doubled),
    withoutOneEnd: seen.filter(({ terminals }) => terminals.length !== 1).length,
    cuts: proxy.cuts(),
    reattaches: sum(({ attaches }) => attaches),
    faults,
  };
  return { seen, fates, figures, port: servings.at(-1)!.port };
}

function fateOf({ runId, text: said, terminals }: Seen): Fate {
  const end = terminals[0] as
    | { type: string; code?: string; outcome?: { type?: string }; result?: { status?: string } }
    | undefined;
  if (!textOf(runId).startsWith(said)) return "wrong";
  if (end?.type === "RUN_ERROR") return `error ${end.code}`;
  // Clients that do not know outcomes receive it as the status of the result.
  if ((end?.outcome?.type ?? end?.result?.status) === "cancelled") return "cancelled";
  return said === textOf(runId) ? "whole" : "short";
}

/** What holds whatever happens. */
async function judge(
  title: string,
  { seen, fates, figures, port }: Awaited<ReturnType<typeof endure>>,
  store: SessionStore,
): Promise<void> {
  process.stdout.write(`chaos: ${JSON.stringify({ title, seed, ...figures })}\n`);
  expect(seen.flatMap(({ runId, faults }) => faults.map((one) => `${runId}: ${one}`))).toEqual([]);
  expect([...fates].filter(([, fate]) => fate === "short" || fate === "wrong")).toEqual([]);
  expect(figures).toMatchObject({ eventsMissing: 0, eventsDoubled: 0, withoutOneEnd: 0 });
  // Where the database fails, answers may end before their connections are cut.
  if (figures.faults === 0) expect(figures.cuts).toBeGreaterThan(0);
  for (const { runId, threadId, text: said } of seen) {
    const fate = fates.get(runId);
    if (fate !== "whole" && fate !== "cancelled") continue;
    // The log and the thread have what the client has.
    const status = fate === "whole" ? "finished" : "cancelled";
    expect(await store.runs.find("", runId), runId).toMatchObject({ status });
    const thread = await store.get({ principal: "", threadId });
    expect(thread?.messages.at(-1)?.content ?? "", runId).toBe(said);
  }
  // No thread is locked, whatever became of its run.
  for (const { threadId } of seen) {
    const body = { threadId, runId: `${brief}${threadId}`, messages: [] };
    const { response } = await insist(() => ask(port, "/agui", body), [200]);
    expect(await text(response)).toContain("RUN_FINISHED");
  }
}

async function open(kind: string, times: ChaosTimes): Promise<ChaosStore | undefined> {
  const opened = await chaosStores[kind]!("answers while connections are cut", times);
  // Registered before the servers: it is closed after them.
  if (opened) onTestFinished(() => opened.close());
  return opened;
}

describe.for(Object.keys(chaosStores))("answers on %s, over connections that are cut", (kind) => {
  test("are whole, or marked as cancelled, by default", { timeout }, async ({ skip }) => {
    const opened = await open(kind, patient);
    if (!opened) return skip();
    const result = await endure(opened);
    await judge(`${kind}, abort`, result, opened.stores[0]!);
    const fates = [...result.fates.values()];
    expect(new Set(fates)).toEqual(new Set(["whole", "cancelled"]));
  });

  test("are whole with a grace", { timeout }, async ({ skip }) => {
    const opened = await open(kind, patient);
    if (!opened) return skip();
    const result = await endure({ ...opened, onDisconnect: { graceMs: 60_000 } });
    await judge(`${kind}, grace`, result, opened.stores[0]!);
    expect(result.figures).toMatchObject({ whole: runs });
  });
});

const bridged = [
  ["Redis", "is killed and started again"],
  ["Redis", "drops all connections"],
  ["PostgreSQL", "is shut down and started again"],
  ["PostgreSQL", "crashes and is started again"],
  ["PostgreSQL", "drops all connections"],
  ["PostgreSQL", "is replaced by its standby"],
] as const;

describe.for(bridged)("answers while %s %s", (of) => {
  const [kind, fault] = of;
  test("are whole", { timeout }, async ({ skip }) => {
    const opened = await open(kind, patient);
    if (!opened) return skip();
    const chaos = { ...opened, onDisconnect: { graceMs: 60_000 }, fault: opened.faults[fault] };
    const result = await endure(chaos);
    await judge(`${kind} ${fault}`, result, opened.stores[0]!);
    expect(result.figures).toMatchObject({ whole: runs, faults: 3 });
  });
});

const noticed = [
  ["Redis", "is stopped for longer than a lease"],
  ["PostgreSQL", "is stopped for longer than a lease"],
  ["PostgreSQL", "has no room on its disk"],
] as const;

describe.for(noticed)("answers while %s %s", ([kind, fault]) => {
  test("are whole, or have one error that names the store", { timeout }, async ({ skip }) => {
    if (fault.includes("disk") && process.getuid?.() !== 0) return skip("It takes root.");
    const opened = await open(kind, brisk);
    if (!opened) return skip();
    const chaos = { ...opened, onDisconnect: { graceMs: 60_000 }, fault: opened.faults[fault] };
    const result = await endure(chaos);
    await judge(`${kind} ${fault}`, result, opened.stores[0]!);
    const known = ["whole", "error store-unavailable", "error run-lost"];
    expect(known).toEqual(expect.arrayContaining([...new Set(result.fates.values())]));
    expect(result.figures.faults).toBeGreaterThan(0);
  });
});
