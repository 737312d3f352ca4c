import { createReducer, EventType, systemClock } from "@holodeck/agui-core";
import {
  assertOptions,
  describeValue,
  sizeOfEvent,
  unknownName,
} from "@holodeck/agui-core/internal";
import type {
  AgentRequest,
  BaseEvent,
  HandlerFacts,
  HandlerMiddleware,
  Json,
  Logger,
  Middleware,
  Reply,
  RequestFacts,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";
import { redactSecrets } from "./redact/redact-secrets.ts";
import { sumOf, toRunReport, usageOf } from "./run-report.ts";

export interface LoggingOptions {
  /** By default the handler's. */
  logger?: Logger;
  /** Of the record of a run. By default `info`. */
  level?: keyof Logger;
  /** One debug record per event, without its content. By default false. */
  events?: boolean;
  /** Adds headers, input and output to the record, credentials redacted. By default the handler's `debug`. */
  debug?: boolean;
}

interface Arrival {
  readonly date: number;
  /** By `systemClock`. */
  readonly began: number;
  readonly facts: RequestFacts | undefined;
  status?: number;
  /** The request started a run, whose record has all the details. */
  hasRun?: boolean;
  /** Writes the record of a run that ended before its request was answered. */
  write?: () => void;
}

// Output beyond this size is marked as truncated in a debug record.
const outputBytes = 256 * 1024;

const levels: readonly string[] = ["debug", "info", "warn", "error"];

/**
 * Logs one structured record per request: of a run at its end, of everything else when it is answered,
 * refusals included.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [logging()] });
 * ```
 */
export function logging(options: LoggingOptions = {}): HandlerMiddleware & { run: Middleware } {
  assertOptions("logging", options, ["logger", "level", "events", "debug"]);
  const { level = "info" } = options;
  if (!levels.includes(level))
    throw unknownName("a level of logging", describeValue(level), levels);
  return createLogging(options);
}

function createLogging(
  options: LoggingOptions,
  handler?: HandlerFacts,
): HandlerMiddleware & { run: Middleware } {
  const { level = "info", events = false } = options;
  const logger = options.logger ?? handler?.logger;
  const debug = options.debug ?? handler?.debug ?? false;
  // A run finds out with which status its request was answered.
  const arrivals = new WeakMap<AgentRequest, Arrival>();

  async function request(
    request: AgentRequest,
    next: () => Promise<Reply>,
    facts?: RequestFacts,
  ): Promise<Reply> {
    const arrival: Arrival = { date: Date.now(), began: systemClock.now(), facts };
    arrivals.set(request, arrival);
    let reply: Reply;
    try {
      reply = await next();
      arrival.status = reply.status;
    } finally {
      arrival.write?.();
    }
    if (!arrival.hasRun) {
      const answered = (): void => {
        // A run that had to wait for its thread has its own record.
        if (arrival.hasRun) return;
        const record = toRequestRecord(request, reply, arrival);
        logger?.[level](redactSecrets(record) as object, "Request answered.");
      };
      // A stream of a run knows when that has ended; a replay does not.
      const { done } = reply.stream ?? {};
      if (done) void done.then(answered, answered);
      else answered();
    }
    return reply;
  }

  const run: Middleware = (input, context, next) => ({
    subscribe(observer) {
      const log = logger ?? context.logger;
      const arrival = context.request && arrivals.get(context.request);
      const { date, began } = arrival ?? { date: Date.now(), began: systemClock.now() };
      if (arrival) arrival.hasRun = true;
      const output = debug ? createReducer([], { maxBytes: outputBytes }) : undefined;
      let firstAt: number | undefined;
      let count = 0;
      let bytes = 0;
      let terminal: BaseEvent | undefined;
      let isOver = false;

      function over(reason?: unknown): void {
        if (isOver) return;
        isOver = true;
        const record = toRecord(reason ?? (context.signal.reason as unknown));
        const write = (): void => {
          if (arrival?.status !== undefined) record.status = arrival.status;
          log[level](redactSecrets(record) as object, "Run finished.");
        };
        // An answer in one piece is made of the run, so its status comes after it.
        if (arrival && arrival.status === undefined) arrival.write = write;
        else write();
      }

      function toRecord(reason: unknown): Json {
        return {
          timestamp: new Date(date).toISOString(),
          requestId: context.requestId,
          sessionId: context.threadId,
          runId: context.runId,
          agentId: context.agentId,
          ...(context.request && { endpoint: toEndpoint(context.request) }),
          ...(arrival?.facts?.protocol !== undefined && { protocol: arrival.facts.protocol }),
          ...(firstAt !== undefined && { firstEventMs: firstAt - began }),
          latencyMs: systemClock.now() - began,
          events: count,
          bytes,
          ...toTokens(terminal),
          ...toRunReport(terminal, reason),
          ...(output && toContent(input, context, output.messages)),
        };
      }

      const subscription = next(input, context).subscribe({
        next(event) {
          firstAt ??= systemClock.now();
          count++;
          const size = sizeOfEvent(event);
          bytes += size;
          if (event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR) {
            terminal = event;
          }
          output?.apply(event);
          if (events) {
            const { runId, threadId: sessionId } = context;
            log.debug({ runId, sessionId, event: event.type, index: count, bytes: size }, "Event.");
          }
          observer.next(event);
        },
        error(reason) {
          over(reason);
          observer.error(reason);
        },
        complete() {
          over();
          observer.complete();
        },
      });
      return {
        unsubscribe() {
          subscription.unsubscribe();
          over();
        },
      };
    },
  });

  return { name: "logging", request, run, mount: (facts) => createLogging(options, facts) };
}

function toRequestRecord(
  request: AgentRequest,
  reply: Reply,
  { date, began, facts }: Arrival,
): Json {
  const problem = toProblem(reply);
  const { requestId = problem.requestId, protocol, threadId, runId, agentId } = facts ?? {};
  const { code } = problem;
  return {
    timestamp: new Date(date).toISOString(),
    ...(requestId !== undefined && { requestId }),
    ...(threadId !== undefined && { sessionId: threadId }),
    ...(runId !== undefined && { runId }),
    ...(agentId !== undefined && { agentId }),
    endpoint: toEndpoint(request),
    ...(protocol !== undefined && { protocol }),
    status: reply.status,
    latencyMs: systemClock.now() - began,
    ...(code !== undefined && { error: code }),
  };
}

function toProblem({ headers, body }: Reply): { requestId?: unknown; code?: unknown } {
  if (headers?.["content-type"] !== "application/problem+json") return {};
  try {
    return (typeof body === "string" ? JSON.parse(body) : body) as Json;
  } catch {
    return {};
  }
}

// Without the query: that is where people put tokens.
function toEndpoint({ method, url }: AgentRequest): string {
  return `${method} ${url.pathname}`;
}

function toTokens(terminal: BaseEvent | undefined): { tokens?: Json } {
  const usage = usageOf(terminal);
  if (usage.length === 0) return {};
  const [input, output] = [sumOf(usage, "inputTokens"), sumOf(usage, "outputTokens")];
  const total = sumOf(usage, "totalTokens") ?? (input ?? 0) + (output ?? 0);
  return { tokens: { ...(input && { input }), ...(output && { output }), total } };
}

function toContent(
  input: RunAgentInput,
  { request }: RunContext,
  output: readonly unknown[],
): Json {
  const headers: Record<string, string> = {};
  // oxlint-disable-next-line unicorn/no-array-for-each -- Headers are not iterable in every type library.
  request?.headers.forEach((value, name) => (headers[name] = value));
  return { ...(request && { headers }), input, output };
}
