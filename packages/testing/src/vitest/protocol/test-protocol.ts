import { EventType, silentLogger } from "@holodeck/agui-core";
import type {
  AgentEvent,
  AgentLike,
  Awaitable,
  Clock,
  ExchangeHandler,
  Logger,
} from "@holodeck/agui-core";
import { afterEach, describe, expect, test } from "vitest";
import { collect } from "../../collect.ts";
import { eventExamples, exampleRun } from "../../event-examples.ts";
import { fakeClock, settle } from "../../fake-clock.ts";
import type { FakeClock } from "../../fake-clock.ts";
import { scriptedAgent } from "../../scripted-agent.ts";
import {
  gate,
  joinDeltas,
  keepReading,
  readAguiFrames,
  readFramesUntil,
} from "./_protocol-frames.ts";
import type { ProtocolFrame } from "./_protocol-frames.ts";

/** The run a suite asks for. */
export interface ProtocolRun {
  readonly threadId: string;
  readonly runId: string;
}

export interface TestProtocolOptions {
  /** Mounts the protocol on a handler, with the options that the suite needs. */
  createHandler(
    agent: AgentLike,
    options: { clock: Clock; heartbeatMs: number; logger: Logger },
  ): Awaitable<ExchangeHandler>;
  /** How a client asks for a run. */
  start(run: ProtocolRun): Request;
  /** How a client re-attaches, with the last offset it has seen if frames have one. Absent: it cannot. */
  resume?: (run: ProtocolRun & { readonly offset?: number }) => Request;
  /** How a client stops a run. Absent: it cannot. */
  stop?: (run: ProtocolRun) => Request;
  /** Whether idle clients are kept alive. @default true */
  keepsAlive?: boolean;
  /** How a client reads an answer, frame by frame. By default AG-UI over server-sent events. */
  read?: (response: Response) => AsyncIterable<ProtocolFrame>;
}

const run: ProtocolRun = { threadId: "thread-1", runId: "run-1" };
const heartbeatMs = 1_000;
const closeMs = 1_000;
const secret = "postgres://user:password@db";

const everyEvent: readonly AgentEvent[] = [
  ...exampleRun.slice(0, -1),
  { type: EventType.TEXT_MESSAGE_START, messageId: "plain" },
  ...["to", "be", "merged"].map((delta) => ({
    type: EventType.TEXT_MESSAGE_CONTENT,
    messageId: "plain",
    delta,
  })),
  { type: EventType.TEXT_MESSAGE_END, messageId: "plain" },
  withoutOwner(eventExamples.TEXT_MESSAGE_CHUNK),
  withoutOwner(eventExamples.TOOL_CALL_CHUNK),
  withoutOwner(eventExamples.REASONING_MESSAGE_CHUNK),
  exampleRun.at(-1)!,
];

const endings: readonly [string, AgentLike][] = [
  ["sends nothing", scriptedAgent([])],
  ["throws at once", scriptedAgent([{ throw: new Error(secret) }])],
  ["throws in mid-sentence", scriptedAgent(["Hello", { throw: new Error(secret) }])],
  [
    "reports that it failed",
    scriptedAgent([{ type: "RUN_ERROR", message: "No.", code: "acme/no" }]),
  ],
  [
    "speaks after the end",
    scriptedAgent([{ type: "RUN_FINISHED", ...run }, "more", { type: "RUN_FINISHED", ...run }]),
  ],
  ["leaves things open", scriptedAgent([{ type: "STEP_STARTED", stepName: "s" }])],
];

/**
 * Proves that a protocol sends any run from its start to exactly one end, live and on resume.
 *
 * @example
 * ```ts
 * testProtocol("ndjson", {
 *   createHandler: (agent, options) =>
 *     createAgentHandler(agent, { ...options, protocols: [ndjson()] }),
 *   start: ({ threadId, runId }) => post("/ndjson", { threadId, runId, messages: [] }),
 * });
 * ```
 */
export function testProtocol(name: string, options: TestProtocolOptions): void {
  const { resume, stop, keepsAlive = true, read = readAguiFrames } = options;
  const closers: (() => Promise<void>)[] = [];

  async function serve(agent: AgentLike, clock: FakeClock = fakeClock()): Promise<ExchangeHandler> {
    const settings = { clock, heartbeatMs, logger: silentLogger };
    const handler = await options.createHandler(agent, settings);
    closers.push(async () => {
      const closed = handler.close({ timeoutMs: closeMs });
      // Draining takes time, and this clock advances only on demand.
      await clock.advance(2 * closeMs);
      await closed;
    });
    return handler;
  }

  async function readAll(handler: ExchangeHandler, request: Request): Promise<ProtocolFrame[]> {
    return collect(read(await ask(handler, request)));
  }

  describe(`protocol: ${name}`, () => {
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });

    test("sends a run with every kind of event", async () => {
      const frames = await readAll(await serve(scriptedAgent(everyEvent)), options.start(run));
      expectOneEnd(frames);
      const offsets = frames.flatMap(({ offset }) => offset ?? []);
      expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b));
    });

    test("sends each word before the next is produced", async () => {
      const received = gate();
      const agent = scriptedAgent(["one-word", { wait: received.opened }, "other-word"]);
      const frames = read(await ask(await serve(agent), options.start(run)));
      const reader = frames[Symbol.asyncIterator]();
      await readFramesUntil(reader, "one-word");
      received.open();
      await readFramesUntil(reader, "other-word");
    });

    test.for(endings)("ends once when the agent %s", async ([, agent]) => {
      const handler = await serve(agent);
      expectOneEnd(await readAll(handler, options.start(run)));
    });

    test("keeps to itself why an agent failed", async () => {
      const agent = scriptedAgent(["Hello", { throw: new Error(secret) }]);
      const response = await ask(await serve(agent), options.start(run));
      expect(await response.text()).not.toContain(secret);
    });

    test("aborts the agent when the client leaves", async () => {
      const left = gate();
      const agent = scriptedAgent([
        "Hello",
        (_, { signal }) => signal.addEventListener("abort", left.open),
        { hang: true },
      ]);
      const response = await ask(await serve(agent), options.start(run));
      await response.body!.cancel();
      await left.opened;
    });

    test.skipIf(!resume)("sends a finished run again from every offset", async () => {
      const handler = await serve(scriptedAgent(everyEvent));
      const whole = await readAll(handler, options.start(run));
      for (const [index, { offset }] of whole.entries()) {
        if (offset === undefined) continue;
        const rest = await readAll(handler, resume!({ ...run, offset }));
        expect(joinDeltas([...whole.slice(0, index + 1), ...rest])).toEqual(joinDeltas(whole));
      }
      if (whole.some(({ offset }) => offset !== undefined)) return;
      expect(joinDeltas(await readAll(handler, resume!(run)))).toEqual(joinDeltas(whole));
    });

    test.skipIf(!resume)("lets clients in everywhere while the run goes on", async () => {
      const arrived = gate();
      const half = Math.floor(everyEvent.length / 2);
      const agent = scriptedAgent([
        ...everyEvent.slice(0, half),
        { type: "CUSTOM", name: "half-time", value: "half-time" },
        { wait: arrived.opened },
        ...everyEvent.slice(half),
      ]);
      const handler = await serve(agent);
      const first = keepReading(read(await ask(handler, options.start(run))));
      await settle();
      const seen = [...first.frames];
      const hasOffsets = seen.some(({ offset }) => offset !== undefined);
      const later = [];
      for (const [index, { offset }] of (hasOffsets ? seen : [{ offset: undefined }]).entries()) {
        if (hasOffsets && offset === undefined) continue;
        const before = hasOffsets ? seen.slice(0, index + 1) : [];
        const request = resume!(offset === undefined ? run : { ...run, offset });
        later.push({ before, rest: keepReading(read(await ask(handler, request))) });
      }
      expect(later).not.toHaveLength(0);
      arrived.open();
      await first.done;
      expectOneEnd(first.frames);
      for (const { before, rest } of later) {
        await rest.done;
        expect(joinDeltas([...before, ...rest.frames])).toEqual(joinDeltas(first.frames));
      }
    });

    test.skipIf(!stop)("stops a run", async () => {
      const stopped = gate();
      const agent = scriptedAgent([
        (_, { signal }) => signal.addEventListener("abort", stopped.open),
        "Hello",
        { hang: true },
      ]);
      const handler = await serve(agent);
      const client = keepReading(read(await ask(handler, options.start(run))));
      await settle();
      const answer = await handler.fetch(stop!(run));
      expect(answer.ok, await describeRefusal(answer)).toBe(true);
      await stopped.opened;
      await client.done;
      expectOneEnd(client.frames);
    });

    test.skipIf(!keepsAlive)("keeps an idle client alive without sending it events", async () => {
      const clock = fakeClock();
      const handler = await serve(scriptedAgent(["Hello", { hang: true }]), clock);
      const { body } = await ask(handler, options.start(run));
      const chunks = keepReading(body as AsyncIterable<Uint8Array>);
      await settle();
      const sent = [...chunks.frames];
      await clock.advance(2 * heartbeatMs);
      expect(chunks.frames.length).toBeGreaterThan(sent.length);
      const frames = await collect(read(new Response(new Blob(chunks.frames as BlobPart[]))));
      expect(frames).toEqual(await collect(read(new Response(new Blob(sent as BlobPart[])))));
    });
  });
}

async function ask(handler: ExchangeHandler, request: Request): Promise<Response> {
  const response = await handler.fetch(request);
  expect(response.status, await describeRefusal(response)).toBe(200);
  return response;
}

function expectOneEnd(frames: readonly ProtocolFrame[]): void {
  expect(frames.filter(({ ends }) => ends)).toHaveLength(1);
  expect(frames.at(-1)?.ends).toBe(true);
}

async function describeRefusal(response: Response): Promise<string> {
  return response.ok ? "" : `The handler answered ${await response.clone().text()}`;
}

function withoutOwner<T extends { subagentRunId?: string }>(event: T): Omit<T, "subagentRunId"> {
  const { subagentRunId: _, ...rest } = event;
  return rest;
}
