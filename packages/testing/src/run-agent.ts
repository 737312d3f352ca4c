import {
  AgentError,
  assertAgent,
  assertOptions,
  createTicker,
  defaultLimits,
  isAgentError,
  LiveRun,
  silentLogger,
  ulid,
} from "@holodeck/agui-core";
import type {
  AgentLike,
  Clock,
  HandlerMiddleware,
  Limits,
  Logger,
  Message,
  Middleware,
  Principal,
  RunAgentInput,
  RunSettings,
  ServerTool,
} from "@holodeck/agui-core";
import { fakeClock } from "./fake-clock.ts";
import { mockSink, prepareSink } from "./mock-sink.ts";
import type { MockSink } from "./mock-sink.ts";
import { runInput } from "./run-input.ts";

export interface RunAgentOptions {
  /** The user's words, after `messages`. */
  message?: string;
  messages?: readonly Message[];
  state?: unknown;
  /** Server tools, for `context.callTool`. */
  tools?: readonly ServerTool[];
  /** Tools the client offers, in `input.tools`. */
  clientTools?: RunAgentInput["tools"];
  context?: RunAgentInput["context"];
  forwardedProps?: unknown;
  threadId?: string;
  runId?: string;
  resume?: RunAgentInput["resume"];
  principal?: Principal;
  /** Outermost first. Of handler middleware `admit` and `run` are used; there is no request. */
  middleware?: readonly (Middleware | HandlerMiddleware)[];
  /** By default `mockSink()`. */
  sink?: MockSink;
  /** A repair by the guard fails the run. By default true, unlike in a handler. */
  strict?: boolean;
  /** Stops the run. */
  signal?: AbortSignal;
  /** Shows real error messages. By default they are masked, as a client would see them. */
  debug?: boolean;
  /** By default time stands still, so that nothing times out. */
  clock?: Clock;
  limits?: Partial<Limits>;
  /** By default silent. */
  logger?: Logger;
}

// Typed by the options, so that a new one cannot be forgotten here.
const known: Record<keyof RunAgentOptions, true> = {
  message: true,
  messages: true,
  state: true,
  tools: true,
  clientTools: true,
  context: true,
  forwardedProps: true,
  threadId: true,
  runId: true,
  resume: true,
  principal: true,
  middleware: true,
  sink: true,
  strict: true,
  signal: true,
  debug: true,
  clock: true,
  limits: true,
  logger: true,
};
const optionNames = Object.keys(known);

/**
 * Runs an agent through the same pipeline as a handler does, without one. Resolves with what the
 * client has read, also when the run failed: then `error` is set.
 *
 * @example
 * ```ts
 * const { text, error } = await runAgent(agent, { message: "hi" });
 * ```
 */
export async function runAgent(agent: AgentLike, options: RunAgentOptions = {}): Promise<MockSink> {
  assertAgent(agent);
  assertOptions("runAgent", options, optionNames);
  const { sink = mockSink(), middleware = [], tools = [], principal, signal } = options;
  const input = toInput(options);
  prepareSink(sink, input);
  const run = new LiveRun(
    {
      agent,
      input,
      middleware: middleware.flatMap((one) => (typeof one === "function" ? one : (one.run ?? []))),
      context: { threadId: input.threadId, runId: input.runId, tools, principal },
    },
    toSettings(options),
  );
  for (const one of middleware) {
    if (typeof one !== "function") await one.admit?.(input, run.context);
  }
  const stop = (): void => run.abort(toReason(signal?.reason));
  run.follow(sink.encoder, sink);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  await run.done;
  signal?.removeEventListener("abort", stop);
  return sink;
}

function toInput(options: RunAgentOptions): RunAgentInput {
  const { message, messages = [], state = {}, clientTools = [], context = [] } = options;
  const { threadId = ulid(), runId = ulid(), forwardedProps, resume } = options;
  const said: Message[] =
    message === undefined ? [] : [{ id: ulid(), role: "user", content: message }];
  return runInput({
    threadId,
    runId,
    state,
    messages: [...messages, ...said],
    tools: clientTools,
    context,
    ...(forwardedProps === undefined ? {} : { forwardedProps }),
    ...(resume === undefined ? {} : { resume }),
  });
}

function toSettings(options: RunAgentOptions): RunSettings {
  const { clock = fakeClock(), strict = true, debug = false, logger = silentLogger } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const shortest = Math.min(limits.runTimeoutMs, limits.stallMs);
  return {
    limits,
    clock,
    ticker: createTicker(clock, Math.min(1_000, Math.max(1, shortest / 4))),
    logger,
    heartbeatMs: Number.POSITIVE_INFINITY,
    onDisconnect: "abort",
    debug,
    strict,
  };
}

function toReason(reason: unknown): AgentError {
  if (isAgentError(reason)) return reason;
  return new AgentError("stopped", "The run was stopped.", { cause: reason });
}
