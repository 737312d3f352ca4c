import { AgentError, defaultLimits, isAgentError, silentLogger, ulid } from "@holodeck/agui-core";
import {
  assertAgent,
  assertOptions,
  assertTools,
  createTicker,
  LiveRun,
  toAnswers,
  toPending,
} from "@holodeck/agui-core/internal";
import type {
  AgentLike,
  Clock,
  HandlerMiddleware,
  Limits,
  Logger,
  Message,
  Middleware,
  Pending,
  Principal,
  RunAgentInput,
  ServerTool,
} from "@holodeck/agui-core";
import type { RunSettings } from "@holodeck/agui-core/internal";
import { fakeClock } from "./fake-clock.ts";
import { mockSink, prepareSink } from "./mock-sink.ts";
import type { MockSink } from "./mock-sink.ts";
import { runInput } from "./run-input.ts";

export interface RunAgentOptions {
  /** The user's message, after `messages`. */
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
  /** Answers to the interrupts of the run in `after`. */
  resume?: RunAgentInput["resume"];
  /** An earlier run, which this one continues: with its thread, messages, state and questions. */
  after?: MockSink;
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
  /** By default time does not advance, so that nothing times out. */
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
  after: true,
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
  assertTools("tools", tools);
  const input = toInput(options);
  const { threadId, runId, resume } = input;
  const answers = toAnswers(left.get(options.after ?? sink)?.pending ?? [], resume);
  prepareSink(sink, input);
  const run = new LiveRun(
    {
      agent,
      input,
      middleware: middleware.flatMap((one) => (typeof one === "function" ? one : (one.run ?? []))),
      context: { threadId, runId, tools, principal, answers },
      save: (summary) => {
        left.set(sink, { threadId, pending: toPending(runId, summary) });
      },
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

// What runs have left to be answered, for those that go on from them.
const left = new WeakMap<MockSink, { threadId: string; pending: readonly Pending[] }>();

function toInput(options: RunAgentOptions): RunAgentInput {
  const { message, after, clientTools = [], context = [], forwardedProps, resume } = options;
  const { messages = historyAfter(after), state = after?.state ?? {} } = options;
  const { threadId = (after && left.get(after)?.threadId) ?? ulid(), runId = ulid() } = options;
  const prompt: Message[] =
    message === undefined ? [] : [{ id: ulid(), role: "user", content: message }];
  return runInput({
    threadId,
    runId,
    state,
    messages: [...messages, ...prompt],
    tools: clientTools,
    context,
    ...(forwardedProps === undefined ? {} : { forwardedProps }),
    ...(resume === undefined ? {} : { resume }),
  });
}

// A client does not send activities back.
function historyAfter(after: MockSink | undefined): readonly Message[] {
  return (after?.messages ?? []).filter(({ role }) => role !== "activity");
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
