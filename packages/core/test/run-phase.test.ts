import { mockSink } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { AgentError } from "../src/index.ts";
import type { LiveRun } from "../src/internal.ts";
import { toPhase } from "../src/run/phase.ts";
import type { RunPhase } from "../src/run/phase.ts";
import { forever, lease, setup, tellingLog, turn } from "./_hostile-kit.ts";

const phases: readonly RunPhase[] = [
  "waiting",
  "running",
  "ending",
  "delivering",
  "ended",
  "drained",
];
const legal = new Set([
  "waiting running",
  "waiting ending",
  "running ending",
  "ending delivering",
  "delivering ended",
  "ended drained",
  "drained ended",
]);
const pairs = phases.flatMap((from) => phases.map((to) => [from, to] as const));

/** The phases that a run has when its callbacks are called. */
function trace(): { seen: string[]; init: Parameters<typeof setup>[1] } {
  const seen: string[] = [];
  const note =
    (name: string) =>
    (run: LiveRun): void => {
      seen.push(`${name} ${run.phase}`);
    };
  return { seen, init: { init: { onEnd: note("onEnd"), onIdle: note("onIdle") } } };
}

describe("the phase of a run", () => {
  test.each(pairs)("%s, then %s: only where the table has it", (from, to) => {
    if (legal.has(`${from} ${to}`)) expect(toPhase(from, to)).toBe(to);
    else expect(() => toPhase(from, to)).toThrow(`A run that is ${from} cannot be ${to} next.`);
  });

  test("goes from waiting to drained, and calls onEnd before onIdle", async () => {
    const { seen, init } = trace();
    const { run } = setup(async () => "done", init);
    expect(run.phase).toBe("waiting");
    const done = run.collect();
    expect(run.phase).toBe("running");
    await done;
    await run.idle;
    expect(run.phase).toBe("drained");
    expect(seen).toEqual(["onEnd delivering", "onIdle drained"]);
  });

  test("is ending while the store saves the end, and drained when the last client has it", async () => {
    const log = tellingLog();
    const { run } = setup(async () => {}, { init: { log: { runs: log, lease } } });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    while (log.entries.at(-1)?.event.type !== "RUN_FINISHED") {
      log.ack();
      await turn();
    }
    expect([run.phase, run.ended, run.isEndDelivered]).toEqual(["ending", true, false]);
    log.ack();
    await run.idle;
    expect([run.phase, run.isEndDelivered]).toEqual(["drained", true]);
  });

  test("skips running when the run is discarded", async () => {
    const { seen, init } = trace();
    const { run } = setup(forever, init);
    run.discard();
    await run.idle;
    expect(seen).toEqual(["onEnd delivering", "onIdle drained"]);
    run.begin();
    run.abort(new AgentError("stopped", "Too late."));
    expect(run.phase).toBe("drained");
  });

  test("is ended again while a client reads the log of a drained run", async () => {
    const log = tellingLog();
    const { run } = setup(async () => "done", { init: { log: { runs: log, lease } } });
    void run.collect();
    while (run.phase !== "drained") {
      log.ack();
      await turn();
    }
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    expect(run.phase).toBe("ended");
    while (run.phase !== "drained") await turn();
    expect(sink.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  });

  test("calls onIdle once for a client that leaves while the run cleans up", async () => {
    const { seen, init } = trace();
    const sink = mockSink({ stallAfter: 1 });
    const { run } = setup(async () => "done", {
      init: {
        ...init?.init,
        onEnd: (one) => {
          one.cut();
          seen.push(`onEnd ${one.phase}`);
        },
      },
    });
    run.follow(sink.encoder, sink);
    await run.idle;
    await turn();
    expect(seen).toEqual(["onEnd delivering", "onIdle drained"]);
  });
});
