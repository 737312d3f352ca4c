import { defaultLimits, silentLogger, systemClock, ulid } from "@holodeck/agui-core";
import {
  assertOptions,
  createFetchSink,
  createTicker,
  describeValue,
  isReturned,
  LiveRun,
} from "@holodeck/agui-core/internal";
import type { AgentEvent, Logger, Subscribable } from "@holodeck/agui-core";
import {
  assertStreamOptions,
  createStreamEncoder,
  streamOptionNames,
  wordsOf,
} from "./stream-encoder.ts";
import type { StreamOptions } from "./stream-encoder.ts";
import { maskedFailure } from "./shared/run-failure.ts";

/** Events of AG-UI, or strings for text, in any form of a stream. */
export type EventStream =
  | Subscribable<AgentEvent | string>
  | AsyncIterable<AgentEvent | string>
  | Iterable<AgentEvent | string>;

/** How the events are encoded, and the message they belong to. */
export interface ToVercelResponseOptions extends StreamOptions {
  /** The chat. By default that of the events' own RUN_STARTED, or a new one. */
  threadId?: string;
  /** Names the message, unless it continues one. By default as in the events' own RUN_STARTED, or a new id. */
  runId?: string;
  /** Id of the assistant message to continue: the last one, when the request ends with it. */
  continues?: string;
  /** Added to the stream's own. */
  headers?: Readonly<Record<string, string>>;
  /** Ends the stream early, as does a client that leaves. */
  signal?: AbortSignal;
  /** Idle time after which a keep-alive is sent. By default 8 s. */
  heartbeatMs?: number;
  /** Receives the real errors. By default they are not logged. */
  logger?: Logger;
  /** Sends real error messages to the client. Not for production. */
  debug?: boolean;
}

const optionNames = [
  ...streamOptionNames,
  "threadId",
  "runId",
  "continues",
  "headers",
  "signal",
  "heartbeatMs",
  "logger",
  "debug",
];

/**
 * Answers `useChat` with a stream of events, without a handler. By default a UI message stream; a client
 * that leaves ends the events.
 *
 * @example
 * ```ts
 * export const POST = () => toVercelResponse(agent.run(input), { sdkVersion: 6 });
 * ```
 */
export function toVercelResponse(
  events: EventStream,
  options: ToVercelResponseOptions = {},
): Response {
  assertOptions("toVercelResponse", options, optionNames);
  assertStreamOptions("toVercelResponse", options);
  if (!Array.isArray(events) && !isReturned(events)) {
    throw new TypeError(
      `toVercelResponse takes a stream of events, not ${describeValue(events)}. ` +
        "Try toVercelResponse(agent.run(input)).",
    );
  }
  const { protocol: wire = "ui", logger = silentLogger, debug = false, onError } = options;
  const { threadId = ulid(), runId = ulid(), heartbeatMs = 8_000 } = options;
  const encoder = createStreamEncoder({
    ...options,
    wire,
    describeFailure(failure) {
      if (onError) return wordsOf(onError, failure, logger);
      return debug ? failure.message : maskedFailure;
    },
  });
  const sink = createFetchSink(options.signal);
  const run = new LiveRun(
    {
      agent: () => events,
      input: { threadId, runId, messages: [], tools: [], context: [], state: {} },
      middleware: [],
      context: { threadId, runId },
      // The events are of a run that has its ids already.
      adopts: {
        threadId: options.threadId === undefined,
        runId: options.runId === undefined,
      },
    },
    {
      limits: defaultLimits,
      clock: systemClock,
      ticker: createTicker(systemClock, Math.min(1_000, Math.max(5, heartbeatMs / 4))),
      logger,
      heartbeatMs,
      onDisconnect: "abort",
      debug,
      strict: false,
    },
  );
  run.follow(encoder, sink);
  const headers = { "content-type": encoder.contentType, ...encoder.headers, ...options.headers };
  return new Response(sink.body, { headers });
}
