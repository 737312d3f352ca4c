import type { BaseEvent } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";
import { brokenAfter, Cut, framesOf, readFrames, resumeClient } from "./_resume-client.ts";
import type { Frame, FrameReader, ResumeClient } from "./_resume-client.ts";
import { checkpointBytes, resumeRun, richRun } from "./_resume-runs.ts";
import type { ResumeRun } from "./_resume-runs.ts";
import { storeKinds } from "./_shared-stores.ts";
import type { SharedStore } from "./_shared-stores.ts";
import { ask, legacy, sse } from "./_wires.ts";
import type { Wire } from "./_wires.ts";

// Every run is cut at every offset, several times over; memory is quick.
const numRuns = { memory: 24, other: 8 };
const scale = Number(process.env.RESUME_RUNS ?? effort(1, 0.5));

/** An agent that says one thing whenever it is let. */
interface Script {
  readonly agent: () => AsyncGenerator<BaseEvent>;
  next(): void;
}

function scriptOf(events: readonly BaseEvent[]): Script {
  let allowed = 0;
  let wake: (() => void) | undefined;
  return {
    next() {
      allowed++;
      wake?.();
    },
    async *agent() {
      for (const [index, event] of events.entries()) {
        while (allowed <= index) await new Promise<void>((resolve) => (wake = resolve));
        yield event;
      }
    },
  };
}

/** Two servers on one store, or one where a store has one server only. */
interface Servers {
  readonly owner: AgentHandler;
  readonly other: AgentHandler;
  readonly scripts: Map<string, Script>;
  readonly errors: () => unknown[];
  close(): Promise<void>;
}

function serversOn(store: SharedStore): Servers {
  const scripts = new Map<string, Script>();
  const logger = memoryLogger();
  const agent = ({ runId }: { runId: string }): AsyncGenerator<BaseEvent> =>
    scripts.get(runId)!.agent();
  const limits = { runLogBytes: checkpointBytes };
  const options = { logger, limits, onDisconnect: "continue" } as const;
  const owner = createAgentHandler(agent as never, { ...options, sessions: store.owner });
  const other = store.other
    ? createAgentHandler(agent as never, { ...options, sessions: store.other })
    : owner;
  return {
    owner,
    other,
    scripts,
    errors: () => logger.records.filter(({ level }) => level === "error"),
    async close() {
      await Promise.all([owner.close(), other.close()]);
      await store.close();
    },
  };
}

let runs = 0;

/** One run, and every way to come back to it. */
class Trial {
  readonly #servers: Servers;
  readonly #wire: Wire;
  readonly #plan: ResumeRun;
  readonly #ids = { threadId: `t${++runs}`, runId: `r${runs}` };
  readonly #script: Script;
  readonly #returned: Promise<Return>[] = [];
  readonly length: number;
  #uncut!: FrameReader;

  constructor(servers: Servers, wire: Wire, plan: ResumeRun) {
    this.#servers = servers;
    this.#wire = wire;
    this.#plan = plan;
    const events = plan.events.map((event) =>
      "runId" in event ? { ...event, ...this.#ids } : event,
    );
    this.#script = scriptOf(events);
    this.length = events.length;
    servers.scripts.set(this.#ids.runId, this.#script);
  }

  /** Lets the run go on one event at a time and comes back at every offset, as soon as it is there. */
  async whileItRuns(): Promise<readonly Return[]> {
    const first = await this.#start();
    // A client of 1.0 sees every offset; that one sets the pace.
    const pace = readFrames(framesOf(await this.#get(this.#servers.owner, "offset=0", "1.0")));
    for (let offset = 1; offset <= this.length; offset++) {
      this.#script.next();
      await pace.reach(offset);
      if (pace.frames.at(-1)!.id !== offset) throw new Error("One event is not one entry.");
      if (offset === 1) await this.#cut(first);
      if (offset < this.length) await this.#comeBack(offset, true);
    }
    await pace.done;
    const returned = await Promise.all(this.#returned);
    await this.#uncut.done;
    this.#servers.scripts.delete(this.#ids.runId);
    return returned;
  }

  /** Comes back at every offset of a run that has ended. */
  async afterItsEnd(): Promise<readonly Return[]> {
    this.#returned.length = 0;
    for (let offset = 0; offset <= this.length; offset++) await this.#comeBack(offset, false);
    return Promise.all(this.#returned);
  }

  /** What a client has that was never cut. */
  async uncut(): Promise<ResumeClient> {
    const client = this.#client(true);
    await client.listen(all(this.#uncut.frames));
    return client;
  }

  get events(): readonly BaseEvent[] {
    return this.#uncut.frames.map(({ event }) => event);
  }

  async #start(): Promise<Response> {
    const url = "http://test.local/agui";
    const body = { ...this.#ids, messages: this.#plan.history };
    const first = await this.#servers.owner.fetch(ask(this.#wire, url, body));
    this.#uncut = readFrames(framesOf(await this.#get(this.#servers.owner, "offset=0")));
    return first;
  }

  async #cut(first: Response): Promise<void> {
    for await (const _frame of framesOf(first)) return;
  }

  async #comeBack(now: number, isLive: boolean): Promise<void> {
    const { other } = this.#servers;
    const seen = this.#uncut.frames.filter(({ id }) => id! <= now);
    const last = seen.at(-1)?.id ?? 0;
    const kept = isLive ? await this.#readUpTo(last) : seen;
    // The run may have gone on for a while before its client is back.
    const stale = seen.slice(0, Math.max(0, seen.length - this.#plan.lag));
    const [exact, fresh, rejoined] = await Promise.all([
      this.#get(other, `offset=${last}`),
      this.#get(other),
      this.#get(other),
    ]);
    this.#returned.push(this.#finish({ now, kept, stale }, { exact, fresh, rejoined }));
  }

  // Of a run that has ended, deltas come joined: there a client has what it saw while it ran.
  async #readUpTo(last: number): Promise<readonly Frame[]> {
    const before: Frame[] = [];
    for await (const frame of framesOf(await this.#get(this.#servers.other, "offset=0"))) {
      before.push(frame);
      if (frame.id! >= last) break;
    }
    return before;
  }

  async #finish(
    { now, kept, stale }: { now: number; kept: readonly Frame[]; stale: readonly Frame[] },
    answers: { exact: Response; fresh: Response; rejoined: Response },
  ): Promise<Return> {
    const exact = readFrames(framesOf(answers.exact));
    const fresh = this.#client(false);
    const returning = this.#client(true);
    const listening = fresh.listen(framesOf(answers.fresh));
    await returning.listen(brokenAfter(stale)).catch((error: unknown) => {
      if (!(error instanceof Cut)) throw error;
    });
    returning.heard.length = 0;
    await Promise.all([exact.done, listening, returning.listen(framesOf(answers.rejoined))]);
    return { now, resumed: [...kept, ...exact.frames], fresh, returning };
  }

  async #get(handler: AgentHandler, query = "", version?: string): Promise<Response> {
    const url = new URL(`http://test.local/agui/runs/${this.#ids.runId}/events?${query}`);
    if (version) url.searchParams.set("protocolVersion", version);
    const response = await handler.fetch(new Request(url));
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return response;
  }

  #client(knowsThread: boolean): ResumeClient {
    const { isLegacy } = this.#wire;
    const messages = knowsThread ? this.#plan.history : [];
    return resumeClient({ ...this.#ids, isLegacy, messages });
  }
}

interface Return {
  readonly now: number;
  readonly resumed: readonly Frame[];
  readonly fresh: ResumeClient;
  readonly returning: ResumeClient;
}

async function* all(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* structuredClone(frames);
}

const deltas = new Set(["TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS"]);

/** Neighbouring deltas of one part as one: how many there are is nobody's business. */
function joined(events: readonly BaseEvent[]): BaseEvent[] {
  const out: BaseEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const isMore =
      deltas.has(event.type) &&
      last !== undefined &&
      JSON.stringify({ ...last, delta: "" }) === JSON.stringify({ ...event, delta: "" });
    if (isMore) out[out.length - 1] = { ...last, delta: String(last.delta) + String(event.delta) };
    else out.push(event);
  }
  return out;
}

const suite = "coming back to a run";

describe.for(
  storeKinds.flatMap((store) =>
    [sse, legacy].map((wire) => ({ title: `${wire.name}, on ${store.name}`, store, wire })),
  ),
)(`${suite}: $title`, { timeout: 600_000 }, ({ store, wire }) => {
  let servers: Servers | undefined;
  beforeAll(async () => {
    // The official clients tell the console about unusual but legal things, and of every cut.
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const shared = await store.open(suite);
    servers = shared && serversOn(shared);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await servers?.close();
  });

  test("ends with what a client has that was never cut, wherever the cut was", async (context) => {
    if (!servers) return context.skip();
    const on = servers;
    await fc.assert(
      fc.asyncProperty(resumeRun, async (plan) => {
        const trial = new Trial(on, wire, plan);
        const live = await trial.whileItRuns();
        const late = await trial.afterItsEnd();
        const uncut = await trial.uncut();
        const whole = joined(trial.events);
        const wanted = { messages: uncut.messages, state: uncut.state };
        for (const { now, resumed, fresh, returning } of [...live, ...late]) {
          const at = `at offset ${now} of ${trial.length}`;
          expect(joined(resumed.map(({ event }) => event)), at).toEqual(whole);
          for (const client of [fresh, returning]) {
            const { messages, state, heard } = client;
            expect({ messages, state }, at).toEqual(wanted);
            expect(wire.faults(heard.map(({ event }) => event)), at).toEqual([]);
          }
        }
      }),
      {
        numRuns: Math.ceil((store.name === "memory" ? numRuns.memory : numRuns.other) * scale),
        examples: [[richRun]],
      },
    );
    expect(on.errors()).toEqual([]);
  });
});
