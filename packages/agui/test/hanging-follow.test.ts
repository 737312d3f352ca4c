import { setImmediate as nextTurn } from "node:timers/promises";
import type { LogEntry, RunContext, RunLog, SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { deferred, memoryLogger, parseSse, post, say } from "./_helpers.ts";

type Follow = RunLog["follow"];

/** A store of two servers; the second one follows runs in the way that is planted. */
function sharedStore(plant: (follow: Follow) => Follow): [SessionStore, SessionStore] {
  const store = memorySessions();
  const runs = Object.create(store.runs) as RunLog;
  runs.follow = plant((...args) => store.runs.follow(...args));
  return [store, Object.assign(Object.create(store) as SessionStore, { runs })];
}

/** A run on one server that goes on when it is asked to, and a client that follows it through the other. */
async function follow(plant: (follow: Follow) => Follow) {
  const clock = fakeClock();
  const [owning, other] = sharedStore(plant);
  const gate = deferred();
  const agent = async (_: unknown, { emit }: RunContext): Promise<void> => {
    await emit.text("first ");
    await gate.promise;
    await emit.text("second");
  };
  const start = (sessions: SessionStore): AgentHandler => {
    const logger = memoryLogger();
    const handler = createAgentHandler(agent, {
      sessions,
      clock,
      logger,
      onDisconnect: "continue",
    });
    onTestFinished(() => handler.close({ timeoutMs: 0 }));
    return handler;
  };
  const owner = start(owning);
  const body = { threadId: "t", runId: "r", messages: [{ id: "q", ...say("go") }] };
  const own = await owner.fetch(post(body));
  await settle();
  const url = "http://test.local/agui/runs/r/events?offset=0";
  const followed = await start(other).fetch(new Request(url));
  expect(followed.status).toBe(200);
  const seen = { text: "", isOver: false };
  const reading = (async () => {
    for await (const chunk of followed.body!) seen.text += new TextDecoder().decode(chunk);
    seen.isOver = true;
  })();
  await settle();
  return {
    seen,
    advance: (ms: number) => pass(clock, ms),
    /** Lets the agent go on, and reads its own response to the end. */
    async goOn() {
      gate.resolve();
      expect(await own.text()).toContain("RUN_FINISHED");
    },
    async events() {
      await reading;
      return parseSse(seen.text);
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await clock.advance(1_000);
    await settle();
  }
}

/** Delivers so many batches, and then nothing, not even the end. */
const hangsAfter =
  (batches: number) =>
  (real: Follow): Follow =>
    async function* hanging(...args): AsyncGenerator<readonly LogEntry[]> {
      let left = batches;
      if (left > 0) {
        for await (const entries of real(...args)) {
          yield entries;
          if (--left === 0) break;
        }
      }
      await new Promise(() => undefined);
    };

const isUnavailable = { type: "RUN_ERROR", code: "store-unavailable" };

describe("a client that follows a run of another server", () => {
  test("waits for as long as the run is quiet", async () => {
    const { seen, advance, goOn, events } = await follow((real) => real);
    await advance(300_000);
    expect(seen).toMatchObject({ isOver: false, text: expect.stringContaining("first") });
    await goOn();
    const received = await events();
    expect(received.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(received.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")).toHaveLength(2);
  });

  test.for([0, 1])(
    "receives store-unavailable from a store that delivers %i batches of what it has",
    async (batches) => {
      const { seen, advance, goOn, events } = await follow(hangsAfter(batches));
      await goOn();
      await advance(30_000);
      expect(seen.isOver).toBe(true);
      const received = await events();
      expect(received.at(-1)).toMatchObject(isUnavailable);
      expect(received.filter(({ type }) => /^RUN_(ERROR|FINISHED)$/.test(type))).toHaveLength(1);
    },
  );

  test("receives it within the same time when the run was quiet for long before", async () => {
    const { seen, advance, goOn, events } = await follow(hangsAfter(1));
    await advance(200_000);
    // Nothing shows that the tail hangs while there is nothing to deliver.
    expect(seen.isOver).toBe(false);
    await goOn();
    await advance(30_000);
    expect(seen.isOver).toBe(true);
    expect((await events()).at(-1)).toMatchObject(isUnavailable);
  });

  test("receives everything from a store that is late once", async () => {
    const gate = deferred();
    const late = (real: Follow): Follow =>
      async function* lateOnce(...args) {
        await gate.promise;
        yield* real(...args);
      };
    const { advance, goOn, events } = await follow(late);
    await goOn();
    await advance(15_000);
    gate.resolve();
    expect((await events()).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  });
});
