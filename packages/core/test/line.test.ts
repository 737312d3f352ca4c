import { mockSink } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import type { AgentLike, BaseEvent, LogEntry, RunLog } from "../src/index.ts";
import { EventType } from "../src/index.ts";
import { lease, setup, turn } from "./_hostile-kit.ts";

interface LateLog {
  readonly runs: RunLog;
  /** Why it refused something. */
  readonly faults: string[];
  acknowledge(): void;
}

/** A log that checks its offsets, and answers when the test says so. */
function lateLog(): LateLog {
  const faults: string[] = [];
  const waiting: (() => void)[] = [];
  let last = 0;
  const keep = (batch: readonly LogEntry[]): Promise<void> => {
    for (const { from, to } of batch) {
      if (from !== last + 1 || to < from) {
        faults.push(`${from} to ${to} does not follow ${last}.`);
        return Promise.reject(new Error(faults.at(-1)));
      }
      last = to;
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  const runs: Partial<RunLog> = {
    append: (_lease, batch) => keep(batch),
    close: (_lease, terminal) => keep([terminal]),
    find: async () => undefined,
  };
  return { runs: runs as RunLog, faults, acknowledge: () => waiting.shift()?.() };
}

interface Observer {
  next(value: unknown): void;
  complete(): void;
}

/** An agent that says what the test tells it to. */
function puppet(): { agent: AgentLike; say(...events: readonly BaseEvent[]): void; end(): void } {
  let observer: Observer;
  const subscribe = (given: Observer): { unsubscribe(): void } => {
    observer = given;
    return { unsubscribe() {} };
  };
  return {
    agent: () => ({ subscribe }),
    say: (...events) => {
      for (const event of events) observer.next(event);
    },
    end: () => observer.complete(),
  };
}

const text = (delta: string, more: object = {}): BaseEvent => ({
  type: EventType.TEXT_MESSAGE_CONTENT,
  messageId: "m",
  delta,
  ...more,
});
const args = (delta: string): BaseEvent => ({
  type: EventType.TOOL_CALL_ARGS,
  toolCallId: "c",
  delta,
});

// Both are deltas that the guard lets pass without a look at what is open, so that nothing else ends the line.
test.for([
  ["arguments of a call", args("d")],
  ["a text with a time", text("d", { timestamp: 5 })],
] as const)("a line of an earlier turn does not go on behind %s", async ([, between]) => {
  const { runs, faults, acknowledge } = lateLog();
  const { agent, say, end } = puppet();
  const { run } = setup(agent, { init: { log: { runs, lease } } });
  const sink = mockSink();
  run.follow(sink.encoder, sink);
  say(
    { type: EventType.TEXT_MESSAGE_START, messageId: "m", role: "assistant" },
    { type: EventType.TOOL_CALL_START, toolCallId: "c", toolCallName: "x" },
    args("1"),
    text("a"),
    text("b"),
    text("c"),
  );
  await turn();
  say(between, text("e"));
  await turn();
  say(text("f"));
  end();
  while (!sink.ended && faults.length === 0) {
    acknowledge();
    await turn();
  }
  expect(faults).toEqual([]);
  expect(sink.events.flatMap(({ delta }) => delta ?? [])).toEqual([
    "1",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
  ]);
});

test.for([1, 2, 3, 4, 5, 6, 7, 8])(
  "a text that is none at its look %i ends nothing",
  async (last) => {
    const { agent, say, end } = puppet();
    const { run } = setup(agent);
    const sink = mockSink();
    run.follow(sink.encoder, sink);
    let looks = 0;
    const fickle = {
      type: EventType.TEXT_MESSAGE_CONTENT,
      messageId: "m",
      get delta() {
        return ++looks < last ? "b" : undefined;
      },
    };
    say({ type: EventType.TEXT_MESSAGE_START, messageId: "m", role: "assistant" }, text("a"));
    say(fickle, text("c"), text("d"));
    end();
    await run.done;
    const deltas = sink.events.flatMap(({ delta }) => delta ?? []);
    expect(deltas.filter((delta) => delta !== "b")).toEqual(["a", "c", "d"]);
  },
);
