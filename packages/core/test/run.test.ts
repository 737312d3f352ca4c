import { fakeClock, mockSink, scriptedAgent } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { assert, describe, expect, test, vi } from "vitest";
import { AgentError, defaultLimits } from "../src/index.ts";
import { createTicker, LiveRun, replayReply } from "../src/internal.ts";
import type {
  AgentLike,
  BaseEvent,
  Emit,
  Encoder,
  Lease,
  LogEntry,
  Limits,
  Logger,
  RunContext,
  RunLog,
  RunRecord,
} from "../src/index.ts";
import type { RunInit, RunSettings } from "../src/internal.ts";

interface Setup {
  limits?: Partial<Limits>;
  onDisconnect?: RunSettings["onDisconnect"];
  heartbeatMs?: number;
  log?: RunLog;
  save?: RunInit["save"];
  middleware?: RunInit["middleware"];
  state?: unknown;
}

function setup(
  agent: AgentLike,
  options: Setup = {},
): {
  run: LiveRun;
  clock: FakeClock;
  settings: RunSettings;
  logger: Record<keyof Logger, ReturnType<typeof vi.fn>>;
} {
  const clock = fakeClock();
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const settings: RunSettings = {
    limits: { ...defaultLimits, ...options.limits },
    clock,
    ticker: createTicker(clock, 10),
    logger,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    onDisconnect: options.onDisconnect ?? "abort",
    debug: false,
    strict: false,
  };
  const run = new LiveRun(
    {
      agent,
      input: {
        threadId: "t",
        runId: "r",
        messages: [],
        tools: [],
        context: [],
        state: options.state,
      },
      middleware: options.middleware ?? [],
      context: { threadId: "t", runId: "r" },
      log: options.log && { runs: options.log, lease },
      save: options.save,
    },
    settings,
  );
  return { run, clock, settings, logger };
}

const lease: Lease = {
  principal: "",
  threadId: "t",
  runId: "r",
  fence: 1,
  onLost: () => undefined,
};

/** A log whose appends are acknowledged when the test says so. */
function slowLog(): RunLog & {
  entries: LogEntry[];
  ack(): void;
  fail(error: Error): void;
  waiting: number;
} {
  const entries: LogEntry[] = [];
  const waiting: { settle(): void; reject(error: Error): void }[] = [];
  const wait = (batch: readonly LogEntry[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        entries.push(...batch);
        resolve();
      };
      waiting.push({ settle, reject });
    });
  const unused = (): never => {
    throw new Error("Not part of this test.");
  };
  return {
    entries,
    ack: () => waiting.shift()?.settle(),
    fail: (error) => waiting.shift()?.reject(error),
    get waiting() {
      return waiting.length;
    },
    open: unused,
    append: (_lease, batch) => wait(batch),
    close: (_lease, terminal) => wait([terminal]),
    find: unused,
    active: unused,
    read: (_key, after, limit = 1e9) => entries.filter(({ to }) => to > after).slice(0, limit),
    follow: unused,
    watchers: () => 0,
    send: unused,
    requestStop: unused,
    commands: () => () => {},
  };
}

const types = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);
const untilAborted = ({ signal }: RunContext): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the way out", () => {
  test("sends the first event of a turn at once, and the rest of it as one write", async () => {
    const writes: string[] = [];
    const sink = mockSink();
    const write = sink.write.bind(sink);
    sink.write = (chunk) => {
      writes.push(String(chunk));
      return write(chunk);
    };
    const { run } = setup(async (_input, { emit }) => {
      for (let i = 0; i < 10; i++) void emit.text(String(i));
      await turn();
      void emit.text("x");
    });
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.text).toBe("0123456789x");
    const frames = writes.map((chunk) => chunk.split("\n").length - 1);
    expect(frames[0]).toBe(1);
    expect(frames[1]).toBe(11);
  });

  test("gives every follower the same, and encodes once for those that speak alike", async () => {
    const encode = vi.fn(({ to }: LogEntry) => `${to} `);
    const encoder: Encoder = { contentType: "text/plain", key: "shared", encode };
    const written = ["", ""];
    const { run } = setup(scriptedAgent(["a", "b"]));
    for (const index of [0, 1]) {
      const sink = mockSink();
      sink.write = (chunk) => {
        written[index] += String(chunk);
        return true;
      };
      if (index === 0) {
        // Before the agent starts, so that both see all of it.
        run.begin = () => {};
      } else Reflect.deleteProperty(run, "begin");
      run.follow(encoder, sink);
    }
    await run.done;
    expect(written[0]).toBe(written[1]);
    expect(written[0]).not.toBe("");
    expect(encode).toHaveBeenCalledTimes(written[0]!.trim().split(" ").length);
  });

  test("delivers an event only when its append is acknowledged, and the end when it is stored", async () => {
    const log = slowLog();
    const order: string[] = [];
    const { run } = setup(scriptedAgent(["a"]), {
      log,
      save: () => void order.push("save"),
    });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await turn();
    expect(sink.events).toEqual([]);
    while (!sink.ended) {
      const before = sink.events.length;
      expect(log.waiting).toBe(1);
      log.ack();
      await turn();
      if (sink.events.length > before && sink.events.at(-1)!.type === "RUN_FINISHED") {
        order.push("told");
      }
    }
    expect(types(sink.events)).toEqual(types(log.entries.map(({ event }) => event)));
    expect(log.entries.map(({ from }) => from)).toEqual(log.entries.map((_, index) => index + 1));
    expect(order).toEqual(["save", "told"]);
  });

  test("ends with store-unavailable when an append fails, and shows nothing that is not stored", async () => {
    const log = slowLog();
    const { run, logger } = setup(
      async (_input, context) => {
        void context.emit.text("lost");
        await untilAborted(context);
      },
      { log },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await turn();
    log.fail(new Error("redis://:pw@host is away"));
    const { error } = await run.done;
    expect(types(sink.events)).toEqual(["RUN_ERROR"]);
    expect(sink.error).toMatchObject({ code: "store-unavailable" });
    expect(JSON.stringify(sink.events)).not.toContain("redis");
    expect(error).toMatchObject({ code: "store-unavailable" });
    expect(run.context.signal.reason).toMatchObject({ code: "store-unavailable" });
    expect(logger.error).toHaveBeenCalled();
  });

  test("gives up on a store that does not answer in time", async () => {
    const log = slowLog();
    const { run, clock } = setup(
      async (_input, context) => {
        void context.emit.text("a");
        await untilAborted(context);
      },
      { log, limits: { appendMs: 100 } },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await clock.advance(120);
    expect(sink.error).toMatchObject({ code: "store-unavailable" });
  });

  test("pauses an agent whose events wait for the store", async () => {
    const log = slowLog();
    let said = 0;
    const { run } = setup(
      async function* () {
        for (; said < 100; said++) yield "x".repeat(1_000);
      },
      { log, limits: { appendBytes: 5_000 } },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    for (let i = 0; i < 20; i++) await turn();
    expect(said).toBeLessThan(20);
    while (!sink.ended) {
      log.ack();
      await turn();
    }
    expect(sink.text).toHaveLength(100_000);
  });

  test("refuses a single event that is too large, with a code", async () => {
    const { run } = setup(
      scriptedAgent([{ type: "CUSTOM", name: "n", value: "x".repeat(2_000) }]),
      {
        limits: { eventBytes: 1_000 },
      },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.error).toMatchObject({ code: "event-too-large" });
    expect(types(sink.events)).not.toContain("CUSTOM");
  });

  test("refuses a delta that is too large for a member that AG-UI does not have", async () => {
    const note = "x".repeat(2_000);
    const { run } = setup(
      scriptedAgent([{ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a", note }]),
      { limits: { eventBytes: 1_000 } },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.error).toMatchObject({ code: "event-too-large" });
    expect(types(sink.events)).not.toContain("TEXT_MESSAGE_CONTENT");
  });
});

describe("an encoder or a sink that makes the agent emit while it is called", () => {
  const spoken: [string, RunLog | undefined][] = [
    ["without a log", undefined],
    ["with a log that stores at once", { ...slowLog(), append: () => {}, close: () => {} }],
  ];

  test.each(spoken)("loses nothing and keeps the order for every client, %s", async (_, log) => {
    let emit: Emit | undefined;
    let finish = (): void => {};
    const agent: AgentLike = (_input, context) => {
      emit = context.emit;
      return new Promise<void>((resolve) => (finish = resolve));
    };
    const { run } = setup(agent, log ? { log } : {});
    const seen: string[][] = [[], []];
    for (const index of [0, 1]) {
      const encode = ({ from, to, event }: LogEntry): string => {
        for (let at = from; at <= to; at++) seen[index]!.push(`${at}`);
        if (index === 0 && event.delta === "a") {
          void emit!.text("b");
          emit!.activity("note", { n: 1 });
          void emit!.text("c");
        }
        if (index === 0 && event.type === "ACTIVITY_SNAPSHOT") finish();
        return "x";
      };
      const sink = mockSink();
      sink.write = () => true;
      run.follow({ contentType: "text/plain", encode }, sink);
    }
    void emit!.text("a");
    await run.done;
    const offsets = seen[1]!.map((_one, index) => `${index + 1}`);
    expect(seen).toEqual([offsets, offsets]);
    expect(offsets.length).toBeGreaterThan(6);
  });
});

describe("an author's own objects", () => {
  test("may be used again for the next event", async () => {
    const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "" };
    const { run } = setup(async function* () {
      yield { type: "TEXT_MESSAGE_START", messageId: "m" };
      for (const delta of ["a", "b", "c"]) {
        event.delta = delta;
        yield event;
      }
      yield { type: "TEXT_MESSAGE_END", messageId: "m" };
    } as AgentLike);
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.text).toBe("abc");
  });

  test("may be worked on after they were sent with a fault in them", async () => {
    const state = { steps: ["pending"] };
    const { run } = setup(async function* () {
      yield { type: "STATE_SNAPSHOT", snapshot: {} };
      yield { type: "STATE_SNAPSHOT", snapshot: state, timestamp: null };
      state.steps[0] = "done";
    } as AgentLike);
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    const sent = sink.events.filter(({ type }) => type === "STATE_SNAPSHOT");
    expect(sent.at(-1)).toEqual({ type: "STATE_SNAPSHOT", snapshot: { steps: ["pending"] } });
  });

  test("may hold themselves, and cost no more than the member that does", async () => {
    const loop: Record<string, unknown> = { type: "CUSTOM", name: "loop" };
    loop.value = [loop];
    let deep: unknown = "x";
    for (let i = 0; i < 10_000; i++) deep = [deep];
    const { run } = setup(async function* () {
      yield { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "a", metadata: loop };
      yield loop;
      yield { type: "STATE_SNAPSHOT", snapshot: { kept: true }, rawEvent: deep };
      yield [loop];
      yield "b";
    } as AgentLike);
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("ab");
    expect(sink.events).toContainEqual({ type: "STATE_SNAPSHOT", snapshot: { kept: true } });
    expect(sink.events.filter(({ type }) => type === "RAW")).toEqual([
      { type: "RAW", event: "[CUSTOM that is not JSON]", source: "agent" },
    ]);
  });

  test("may refuse to be looked at", async () => {
    const shy = {
      type: "CUSTOM",
      name: "n",
      get value(): unknown {
        throw new Error("not for you");
      },
    };
    const { run } = setup(async function* () {
      yield "a";
      yield shy;
      yield new Proxy(shy, { ownKeys: () => assert.fail("not even these") });
      yield "b";
    } as AgentLike);
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.error).toBeUndefined();
    expect(sink.text).toBe("ab");
  });

  test("may be worked on after they were sent", async () => {
    const state = { steps: ["pending", "pending"], list: [] as number[] };
    const save = vi.fn();
    const { run } = setup(
      async function* () {
        yield { type: "STATE_SNAPSHOT", snapshot: state };
        state.steps[0] = "done";
        yield { type: "STATE_SNAPSHOT", snapshot: state };
        state.list.push(1);
        yield { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 1 }] };
        state.steps[1] = "broken";
      } as AgentLike,
      { save },
    );
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    const sent = sink.events.filter(({ type }) => type === "STATE_SNAPSHOT");
    expect(sent.map(({ snapshot }) => (snapshot as typeof state).steps)).toEqual([
      ["pending", "pending"],
      ["done", "pending"],
    ]);
    expect(save.mock.calls[0]![0]).toMatchObject({
      state: { steps: ["done", "pending"], list: [1] },
    });
  });
});

describe("pace", () => {
  test("pauses an iterable while every client is behind, and goes on when one reads", async () => {
    let said = 0;
    const { run } = setup(async function* () {
      for (; said < 1_000; said++) yield "x";
    });
    const sink = mockSink({ stallAfter: 5 });
    run.follow(sink.encoder, sink);
    for (let i = 0; i < 10; i++) await turn();
    // What it says until the event loop turns, and no more.
    expect(said).toBeLessThan(300);
    sink.resume();
    await run.done;
    expect(sink.text).toHaveLength(1_000);
  });

  test("does not let a stalled client hold back one that reads, and cuts it at its limit", async () => {
    const gone = vi.fn();
    const { run } = setup(
      async function* () {
        for (let i = 0; i < 1_000; i++) yield "x".repeat(100);
      },
      { limits: { followerBytes: 10_000 } },
    );
    const [reader, stalled] = [mockSink(), mockSink({ stallAfter: 1 })];
    const destroy = stalled.destroy.bind(stalled);
    stalled.destroy = () => {
      gone();
      destroy();
    };
    const begin = vi.spyOn(run, "begin").mockImplementationOnce(() => {});
    run.follow(stalled.encoder, stalled);
    expect(begin).toHaveBeenCalled();
    run.follow(reader.encoder, reader);
    await run.done;
    expect(reader.text).toHaveLength(100_000);
    expect(reader.error).toBeUndefined();
    expect(gone).toHaveBeenCalledOnce();
    expect(run.status).toBe("finished");
  });

  test("cuts a client that has not read for stallMs, which counts as leaving", async () => {
    const { run, clock } = setup(
      async function* () {
        for (;;) yield "x";
      },
      { limits: { stallMs: 1_000 } },
    );
    const sink = mockSink({ stallAfter: 3 });
    run.follow(sink.encoder, sink);
    await clock.advance(990);
    expect(run.ended).toBe(false);
    await clock.advance(30);
    expect(run.context.signal.reason).toMatchObject({ code: "disconnected" });
    expect(run.status).toBe("cancelled");
  });

  test("makes code that awaits `emit` wait, and no other code", async () => {
    let waits: unknown;
    const { run } = setup(async (_input, { emit }) => {
      expect(emit.text("a")).toBeUndefined();
      void emit.text("b");
      await turn();
      waits = emit.text("c");
      await waits;
    });
    const sink = mockSink({ stallAfter: 2 });
    run.follow(sink.encoder, sink);
    await turn();
    await turn();
    expect(waits).toBeInstanceOf(Promise);
    expect(run.ended).toBe(false);
    sink.resume();
    await run.done;
    expect(sink.text).toBe("abc");
  });

  test("lets the event loop turn under an agent that never waits", async () => {
    const { run } = setup(async function* () {
      for (;;) yield "x";
    });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await turn();
    run.abort(new AgentError("stopped", "Enough."));
    await run.done;
    expect(sink.outcome).toEqual({ type: "cancelled" });
  });

  test("sends a keep-alive after a quiet time, and none while there is something to send", async () => {
    const beats: number[] = [];
    let say!: (text: string) => void;
    const { run, clock } = setup(async (_input, context) => {
      say = (text) => void context.emit.text(text);
      await untilAborted(context);
    });
    const sink = mockSink();
    const encoder: Encoder = {
      ...sink.encoder,
      keepAlive(begun) {
        beats.push(clock.now());
        return begun ? "\n" : "";
      },
    };
    run.follow(encoder, sink);
    await clock.advance(10_000);
    say("a");
    await clock.advance(14_000);
    expect(beats).toEqual([]);
    await clock.advance(2_000);
    expect(beats).toHaveLength(1);
    run.abort(new AgentError("stopped", "Enough."));
    await run.done;
  });
});

describe("leaving and stopping", () => {
  const waiting: AgentLike = async (_input, context) => {
    void context.emit.text("a");
    await untilAborted(context);
  };

  test.for(["stopped", "disconnected", "replaced"] as const)(
    "ends as cancelled when it was %s, with everything closed",
    async (code) => {
      const { run } = setup(waiting);
      const sink = mockSink();
      run.follow(sink.encoder, sink);
      await turn();
      run.abort(new AgentError(code, "Over."));
      await run.done;
      expect(types(sink.events).slice(-2)).toEqual(["TEXT_MESSAGE_END", "RUN_FINISHED"]);
      expect(sink.outcome).toEqual({ type: "cancelled" });
      expect(run.context.signal.reason).toMatchObject({ code });
    },
  );

  test("times out with one RUN_ERROR, and the agent's signal has the reason", async () => {
    const { run, clock } = setup(waiting, { limits: { runTimeoutMs: 500 } });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await clock.advance(520);
    expect(sink.error).toMatchObject({ code: "timeout" });
    expect(run.context.signal.reason).toMatchObject({ code: "timeout" });
  });

  test("notifies the client before the agent", async () => {
    const order: string[] = [];
    const { run } = setup(async (_input, context) => {
      context.signal.addEventListener("abort", () => order.push("agent"));
      await untilAborted(context);
    });
    const sink = mockSink();
    const encoder: Encoder = {
      ...sink.encoder,
      encode(entry) {
        if (entry.event.type === "RUN_FINISHED") order.push("client");
        return sink.encoder.encode(entry);
      },
    };
    run.follow(encoder, sink);
    await turn();
    run.abort(new AgentError("stopped", "Enough."));
    expect(order).toEqual(["client", "agent"]);
  });

  test("drops what the agent sends after the end, and ends the agent where it awaits", async () => {
    const late: unknown[] = [];
    const { run } = setup(async (_input, { emit, signal, session }) => {
      void emit.text("a");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      late.push(session.set("k", 1), session.get("k"));
      try {
        await emit.text("b");
      } catch (error) {
        late.push((error as AgentError).code);
      }
    });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await turn();
    run.abort(new AgentError("stopped", "Enough."));
    await run.done;
    await turn();
    expect(late).toEqual([undefined, undefined, "run-ended"]);
    expect(sink.text).toBe("a");
  });

  test("runs the `finally` of a generator that is stopped", async () => {
    const cleaned = vi.fn();
    const { run } = setup(async function* () {
      try {
        for (;;) yield "x";
      } finally {
        cleaned();
      }
    });
    const sink = mockSink({ leaveAfter: 3 });
    run.follow(sink.encoder, sink);
    await run.done;
    await turn();
    expect(cleaned).toHaveBeenCalledOnce();
  });

  test("unsubscribes from an Observable", async () => {
    const unsubscribe = vi.fn();
    const { run } = setup(() => ({ subscribe: () => ({ unsubscribe }) }));
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    run.abort(new AgentError("stopped", "Enough."));
    await run.done;
    expect(unsubscribe).toHaveBeenCalledOnce();
  });

  test("waits out the grace before it aborts, and not if a client comes back", async () => {
    const { run, clock } = setup(waiting, { onDisconnect: { graceMs: 1_000 }, log: memoryLog() });
    const first = mockSink();
    run.follow(first.encoder, first);
    await turn();
    first.leave();
    await clock.advance(900);
    const second = mockSink();
    run.follow(second.encoder, second);
    await clock.advance(5_000);
    expect(run.ended).toBe(false);
    expect(second.text).toBe("a");
    second.leave();
    await clock.advance(1_050);
    expect(run.context.signal.reason).toMatchObject({ code: "disconnected" });
  });

  test("goes on without clients where the options allow it", async () => {
    let finish!: () => void;
    const { run } = setup(() => new Promise<void>((resolve) => (finish = resolve)), {
      onDisconnect: "continue",
    });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    sink.leave();
    await turn();
    expect(run.ended).toBe(false);
    finish();
    await run.done;
    expect(run.status).toBe("finished");
  });

  test("ends a run without a client without ever calling its agent", async () => {
    const agent = vi.fn();
    const { run } = setup(agent);
    run.discard();
    await run.done;
    expect(agent).not.toHaveBeenCalled();
    expect(run.status).toBe("cancelled");
  });

  test("does not take changes of an agent to the list it was given for events", async () => {
    const { run } = setup((input) => {
      input.messages.push({ id: "x", role: "user", content: "mine" });
      return "hi";
    });
    const { messages } = await run.collect();
    expect(messages).toMatchObject([{ role: "assistant", content: "hi" }]);
    expect(messages).toHaveLength(1);
  });

  test("reports that it is done and idle to callers after its end, as to callers before", async () => {
    const { run } = setup(() => "hi");
    const before = [run.done, run.idle];
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    const [result] = await Promise.all(before);
    expect(result).toMatchObject({ messages: [{ role: "assistant", content: "hi" }] });
    expect(await run.done).toBe(result);
    await run.idle;
    const { run: other } = setup(() => "hi");
    const second = mockSink();
    other.follow(second.encoder, second);
    await expect.poll(() => second.ended).toBe(true);
    expect(await other.done).toMatchObject({ messages: [{ role: "assistant", content: "hi" }] });
    await other.idle;
  });

  test("drops a client that takes its last bytes never", async () => {
    const { run, clock } = setup(scriptedAgent(["a"]), { limits: { stallMs: 1_000 } });
    const sink = mockSink();
    Object.defineProperty(sink, "pending", { get: () => 10 });
    const destroy = vi.spyOn(sink, "destroy");
    run.follow(sink.encoder, sink);
    await run.done;
    expect(run.followers).toBe(1);
    await clock.advance(1_100);
    expect(destroy).toHaveBeenCalledOnce();
    expect(run.followers).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

/** A log that answers at once and keeps everything. */
function memoryLog(): RunLog & { entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  return {
    ...slowLog(),
    entries,
    append: (_lease, batch) => void entries.push(...batch),
    close: (_lease, terminal) => void entries.push(terminal),
    read: (_key, after, limit = 1e9) => entries.filter(({ to }) => to > after).slice(0, limit),
    async *follow(_key, after) {
      for (const entry of entries) if (entry.to > after) yield [entry];
    },
  };
}

describe("coming later", () => {
  test("replays the log to a second client, then goes on live with it", async () => {
    let release!: () => void;
    const { run } = setup(
      async function* () {
        yield "a";
        yield "b";
        await new Promise<void>((resolve) => (release = resolve));
        yield "c";
      },
      { log: memoryLog() },
    );
    const first = mockSink();
    run.follow(first.encoder, first);
    // The first event is out, nothing else: this client claims to have seen more than that.
    const early = mockSink();
    run.follow(early.encoder, early, 2);
    await turn();
    await turn();
    const second = mockSink();
    run.follow(second.encoder, second);
    const third = mockSink();
    run.follow(third.encoder, third, 3);
    await turn();
    release();
    await run.done;
    await turn();
    expect(second.events).toEqual(first.events);
    expect(early.events).toEqual(first.events.slice(2));
    expect(third.events).toEqual(first.events.slice(3));
    expect([second.ended, third.ended]).toEqual([true, true]);
  });

  test("shows an encoder with memory what its client has seen, without sending it", async () => {
    const { run } = setup(scriptedAgent(["a", "b", "c"]), { log: memoryLog() });
    const first = mockSink();
    run.follow(first.encoder, first);
    await run.done;
    let heard = 0;
    let written = "";
    const counting: Encoder = {
      contentType: "text/plain",
      encode: ({ to }) => `${++heard}/${to} `,
    };
    const late = mockSink();
    late.write = (chunk) => {
      written += String(chunk);
      return true;
    };
    run.follow(counting, late, 4);
    await turn();
    const last = first.events.length;
    expect(written.trim().split(" ")).toEqual(
      Array.from({ length: last - 4 }, (_, index) => `${index + 5}/${index + 5}`),
    );
  });

  test("replays a run that has ended", async () => {
    const log = memoryLog();
    const { run, settings } = setup(scriptedAgent(["a", "b"]), { log });
    const first = mockSink();
    run.follow(first.encoder, first);
    await run.done;
    const record: RunRecord = {
      ...lease,
      format: 1,
      agentId: "a",
      status: "finished",
      first: 1,
      last: log.entries.length,
    };
    const late = mockSink();
    const reply = replayReply({ encoder: late.encoder }, { runs: log, record, from: 2, settings });
    expect(reply.status).toBe(200);
    reply.stream!.attach(late);
    await turn();
    expect(late.events).toEqual(first.events.slice(2));
    expect(late.ended).toBe(true);
    const trimmed = { runs: log, record: { ...record, first: 4 }, from: 2, settings };
    expect(() => replayReply({ encoder: late.encoder }, trimmed)).toThrow(/trimmed/);
  });
});

describe("what is kept", () => {
  test("hands messages, state and metadata to `save`, whatever the end", async () => {
    const save = vi.fn();
    const { run } = setup(
      async (_input, { emit, state, session }) => {
        void emit.text("Hi");
        await state.set({ n: 1 });
        session.set("seen", true);
        throw new Error("boom");
      },
      { save },
    );
    await run.collect();
    expect(save).toHaveBeenCalledOnce();
    expect(save.mock.calls[0]![0]).toMatchObject({
      status: "failed",
      messages: [{ role: "assistant", content: "Hi" }],
      state: { n: 1 },
      metadata: { seen: true },
    });
  });

  test("still notifies the client when `save` fails", async () => {
    const { run } = setup(scriptedAgent(["a"]), {
      save: () => {
        throw new Error("disk full");
      },
    });
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    await run.done;
    expect(sink.error).toMatchObject({ code: "store-unavailable" });
    expect(
      types(sink.events).filter((type) => type.startsWith("RUN_F") || type === "RUN_ERROR"),
    ).toHaveLength(1);
  });

  test("survives an encoder that throws, for the other clients", async () => {
    const { run, logger } = setup(scriptedAgent(["a"]), { onDisconnect: "continue" });
    const broken: Encoder = {
      contentType: "text/plain",
      encode: () => {
        throw new Error("no");
      },
    };
    run.follow(broken, mockSink());
    await run.done;
    expect(run.status).toBe("finished");
    expect(logger.error).toHaveBeenCalled();
  });
});
