import { EventType, toAgent } from "@holodeck/agui-core";
import { createTicker } from "@holodeck/agui-core/internal";
import { EventSchema } from "@ag-ui/core/schemas";
import { of, throwError } from "rxjs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  collect,
  eventExamples,
  exampleRun,
  fakeClock,
  mockSink,
  readEvents,
  readSse,
  runAgent,
  runContext,
  runInput,
  scriptedAgent,
  settle,
} from "../src/index.ts";

describe("scriptedAgent", () => {
  test("sends events and strings, and what its functions return", async () => {
    const agent = scriptedAgent([
      "a",
      () => "b",
      () => ["c", "d"],
      async ({ messages }) => String(messages.length),
      () => {},
      { type: "CUSTOM", name: "n", value: { wait: 1 } },
    ]);
    const { text, custom } = await runAgent(agent, { message: "hi" });
    expect(text).toBe("abcd1");
    expect(custom).toEqual([{ name: "n", value: { wait: 1 } }]);
  });

  test("waits where its script has a pause", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const sink = mockSink();
    const agent = scriptedAgent(["a", { wait: gate }, "b", { wait: async () => {} }, "c"]);
    const run = runAgent(agent, { sink });
    await settle();
    expect(sink.text).toBe("a");
    open();
    await run;
    expect(sink.text).toBe("abc");
  });

  test("stops waiting when the run is aborted", async () => {
    const agent = scriptedAgent([{ wait: new Promise(() => {}) }, "never"]);
    const stop = new AbortController();
    const run = runAgent(agent, { signal: stop.signal });
    await settle();
    stop.abort();
    expect((await run).text).toBe("");
  });

  test("plays one script per run, and the last one again", async () => {
    const agent = scriptedAgent(["one"], ["two"]);
    const texts = [];
    for (const message of ["a", "b", "c"]) texts.push((await runAgent(agent, { message })).text);
    expect(texts).toEqual(["one", "two", "two"]);
    expect(agent.inputs.map(({ messages }) => messages[0]?.content)).toEqual(["a", "b", "c"]);
  });

  test("refuses what is no script", () => {
    expect(() => scriptedAgent("Hello" as never)).toThrow('scriptedAgent(["Hello ", "world"])');
  });
});

describe("readSse", () => {
  const wire = ': hi\nid: 1\ndata: {"type":"RAW"}\n\nevent: done\ndata: a\ndata: ü\n\n';
  const messages = [
    { id: "1", data: '{"type":"RAW"}' },
    { event: "done", data: "a\nü" },
  ];
  const bytes = new TextEncoder().encode(wire);

  async function* byteByByte(): AsyncGenerator<Uint8Array> {
    for (const byte of bytes) yield Uint8Array.of(byte);
  }

  test.for<[string, () => Parameters<typeof readSse>[0]]>([
    ["a string", () => wire],
    ["a response", () => new Response(wire)],
    ["a stream", () => new Response(wire).body!],
    ["chunks cut inside a character", byteByByte],
  ])("reads %s", async ([, source]) => {
    expect(await collect(readSse(source()))).toEqual(messages);
  });

  test("reads nothing from a response without a body", async () => {
    expect(await collect(readSse(new Response(null, { status: 204 })))).toEqual([]);
  });

  test("reads a response of fetch beside a server that has replaced the global Response", async () => {
    const response = await fetch(`data:text/event-stream,${encodeURIComponent(wire)}`);
    vi.stubGlobal("Response", vi.fn());
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await collect(readSse(response))).toEqual(messages);
  });

  test("ends the stream when the reader stops early", async () => {
    const cancel = vi.fn();
    const body = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(bytes), cancel });
    for await (const message of readSse(body)) {
      expect(message).toEqual(messages[0]);
      break;
    }
    expect(cancel).toHaveBeenCalledOnce();
  });

  test("reads events", async () => {
    const sent = exampleRun.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    expect(await collect(readEvents(sent))).toEqual(exampleRun);
  });
});

describe("fakeClock", () => {
  test("fires timers in order of time, then of setting", async () => {
    const clock = fakeClock(100);
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name}@${clock.now()}`);
    clock.setTimeout(note("late"), 20);
    clock.setTimeout(note("first"), 10);
    clock.setTimeout(note("second"), 10);
    clock.clearTimeout(clock.setTimeout(note("never"), 5));
    clock.setTimeout(note("beyond"), 31);
    await clock.advance(30);
    expect(fired).toEqual(["first@110", "second@110", "late@120"]);
    expect(clock.now()).toBe(130);
    expect(clock.pending).toBe(1);
  });

  test("fires timers that were set by timers", () => {
    const clock = fakeClock();
    const tick = vi.fn();
    createTicker(clock, 10).add({ tick });
    clock.tick(35);
    expect(tick.mock.calls).toEqual([[10], [20], [30]]);
  });

  test("lets promises settle between two timers", async () => {
    const clock = fakeClock();
    const order: string[] = [];
    clock.setTimeout(() => void settle().then(() => order.push("settled")), 1);
    clock.setTimeout(() => order.push("second"), 2);
    await clock.advance(2);
    expect(order).toEqual(["settled", "second"]);
  });

  test("goes on under a test runner's fake timers", async () => {
    vi.useFakeTimers();
    try {
      const clock = fakeClock();
      await clock.advance(5);
      expect(clock.now()).toBe(5);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("examples", () => {
  test.for(Object.values(EventType))("have a valid %s with every field", (type) => {
    const example = eventExamples[type];
    expect(EventSchema.parse(example)).toEqual(example);
    expect(example).toMatchObject({ type, timestamp: expect.any(Number), rawEvent: {} });
  });

  test("form a run with all that can stand in one", () => {
    const left = Object.values(EventType).filter((t) => !exampleRun.some(({ type }) => type === t));
    expect(left.toSorted()).toEqual([
      "REASONING_MESSAGE_CHUNK",
      "RUN_ERROR",
      "TEXT_MESSAGE_CHUNK",
      "TOOL_CALL_CHUNK",
    ]);
  });
});

describe("collect", () => {
  test("collects an Observable, an agent and an iterable", async () => {
    expect(await collect(of(1, 2))).toEqual([1, 2]);
    const events = await collect(toAgent(scriptedAgent(["a"])).run(runInput()));
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "thread-1", runId: "run-1" });
    await expect(collect(throwError(() => new Error("no")))).rejects.toThrow("no");
  });
});

describe("runContext", () => {
  test("has what it was given", () => {
    const principal = { id: "ada" };
    expect(runContext({ principal })).toMatchObject({ principal, runId: "run-1" });
  });
});
