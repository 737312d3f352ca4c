import type { BaseEvent, Chunk, Encoder, Sink } from "@holodeck/agui-core";
import { recordRun } from "./recorded-run.ts";
import type { RecordedRun, RecordStart } from "./recorded-run.ts";

export interface MockSinkOptions {
  /** Stops reading after this many events, until `resume()`. By default it keeps reading. */
  stallAfter?: number;
  /** Leaves after this many events. By default it stays to the end. */
  leaveAfter?: number;
}

/** A client in memory: what it has read so far, and the sink a run writes to. */
export interface MockSink extends RecordedRun, Sink {
  /** Hand both to a run: `run.follow(sink.encoder, sink)`. */
  readonly encoder: Encoder;
  /** True once the server has closed the stream and everything was read. */
  readonly ended: boolean;
  /** Reads again after a stall. */
  resume(): void;
  /** Leaves, as a closed tab does. */
  leave(): void;
}

const starts = new WeakMap<MockSink, RecordStart>();
const used = new WeakSet<MockSink>();

/**
 * A client for `runAgent` that keeps what it reads; with options, a bad one.
 *
 * @example
 * ```ts
 * const sink = mockSink();
 * await runAgent(agent, { message: "hi", sink });
 * expect(sink.text).toBe("Hello world");
 * ```
 */
export function mockSink(options: MockSinkOptions = {}): MockSink {
  const { leaveAfter = Number.POSITIVE_INFINITY } = options;
  let { stallAfter = Number.POSITIVE_INFINITY } = options;
  const events: BaseEvent[] = [];
  // Accepted and not read: what a socket's buffer is to a client that does not look.
  const unread: string[] = [];
  let pending = 0;
  let stalled = stallAfter <= 0;
  let gone = false;
  let closing = false;
  let ended = false;
  let cached: RecordedRun | undefined;

  function read(): void {
    while (unread.length > 0 && !stalled) {
      const line = unread.shift()!;
      pending -= line.length;
      events.push(JSON.parse(line) as BaseEvent);
      stalled = events.length >= stallAfter;
      if (events.length >= leaveAfter) return sink.leave();
    }
    if (closing && unread.length === 0 && !gone) ended = true;
  }

  function record(): RecordedRun {
    if (cached?.events.length !== events.length) {
      cached = recordRun([...events], starts.get(sink));
    }
    return cached;
  }

  const sink: MockSink = {
    encoder: { contentType: "application/x-ndjson", key: "mock-sink", encode: toLine },
    onDrain: undefined,
    onClose: undefined,
    get pending() {
      return pending;
    },
    get ended() {
      return ended;
    },
    write(chunk) {
      if (gone) return true;
      for (const line of decodeChunk(chunk).split("\n")) {
        if (line === "") continue;
        unread.push(line);
        pending += line.length;
      }
      read();
      return !stalled;
    },
    end() {
      closing = true;
      read();
    },
    destroy() {
      gone = true;
    },
    resume() {
      if (!stalled) return;
      stalled = false;
      stallAfter = Number.POSITIVE_INFINITY;
      read();
      if (!gone) sink.onDrain?.();
    },
    leave() {
      if (gone || ended) return;
      gone = true;
      if (!closing) sink.onClose?.();
    },
    get events() {
      return record().events;
    },
    get text() {
      return record().text;
    },
    get reasoning() {
      return record().reasoning;
    },
    get messages() {
      return record().messages;
    },
    get toolCalls() {
      return record().toolCalls;
    },
    get state() {
      return record().state;
    },
    get steps() {
      return record().steps;
    },
    get activities() {
      return record().activities;
    },
    get custom() {
      return record().custom;
    },
    get usage() {
      return record().usage;
    },
    get error() {
      return record().error;
    },
    get outcome() {
      return record().outcome;
    },
  };
  return sink;
}

/** Sets what a sink's client had before the run. A sink follows one run only. */
export function prepareSink(sink: MockSink, start: RecordStart): void {
  if (used.has(sink)) {
    throw new TypeError("This sink has followed a run already; make another with mockSink().");
  }
  used.add(sink);
  starts.set(sink, start);
}

function toLine({ event }: { event: BaseEvent }): string {
  return `${JSON.stringify(event)}\n`;
}

function decodeChunk(chunk: Chunk): string {
  return typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
}
