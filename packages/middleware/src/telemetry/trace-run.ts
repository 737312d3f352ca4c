import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, RunAgentInput, RunContext } from "@holodeck/agui-core";
import type * as otel from "@opentelemetry/api";
import { sumOf, toRunReport, usageOf } from "../run-report.ts";
import type { Labels, TelemetryMeters } from "./telemetry-meters.ts";

/** The module `@opentelemetry/api`; an optional peer, so never part of what we export. */
export type Api = typeof otel;

// By their numbers, so that nothing is loaded for them.
const internal = 0;
const failed = 2;

/** What all runs share. */
export interface TraceTools {
  readonly api: Api;
  readonly meters: TelemetryMeters;
  readonly options: { readonly provider?: string; readonly exposeTraceId?: boolean };
}

/** One run, as it is watched. */
export interface RunTrace {
  within<T>(body: () => T): T;
  observe(event: BaseEvent): BaseEvent;
  over(reason?: unknown): void;
}

/** Opens the span of a run, and measures it until it is over. */
export function traceRun(
  { api, meters, options }: TraceTools,
  input: RunAgentInput,
  context: RunContext,
): RunTrace {
  const { agentId, threadId, runId } = context;
  const tracer = api.trace.getTracer("@holodeck/agui");
  const labels: Labels = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agentId,
    ...(options.provider !== undefined && { "gen_ai.provider.name": options.provider }),
  };
  const attributes = {
    ...labels,
    "gen_ai.agent.id": agentId,
    "gen_ai.conversation.id": threadId,
    "agui.run.id": runId,
  };
  const parent = toParent(api, context);
  const span = tracer.startSpan(`invoke_agent ${agentId}`, { kind: internal, attributes }, parent);
  const place = api.trace.setSpan(parent, span);
  const beganAt = performance.now();
  const counts = new Map<string, number>();
  const calls = new Map<string, { name: string; at?: number; began?: number }>();
  let terminal: BaseEvent | undefined;
  let isOver = false;

  meters.active.add(1, labels);

  function first(): void {
    meters.firstEvent.record(secondsSince(beganAt), labels);
    span.addEvent("agui.first_event");
  }

  // From the end of its arguments to its result; what the client executes has none in this run.
  function finishTool(event: BaseEvent): void {
    const id = event.toolCallId as string;
    const call = calls.get(id);
    if (call?.at === undefined) return;
    calls.delete(id);
    const { name, at, began = 0 } = call;
    const toolLabels = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function" };
    const toolSpan = tracer.startSpan(
      `execute_tool ${name}`,
      {
        kind: internal,
        startTime: at,
        attributes: { ...toolLabels, "gen_ai.tool.name": name, "gen_ai.tool.call.id": id },
      },
      place,
    );
    toolSpan.end();
    meters.tool.record(secondsSince(began), {
      ...toolLabels,
      "gen_ai.tool.name": isKnownTool(name, input, context) ? name : "_OTHER",
    });
  }

  function observe(event: BaseEvent): BaseEvent {
    if (counts.size === 0) first();
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
    switch (event.type) {
      case EventType.RUN_STARTED:
        return options.exposeTraceId ? withTraceId(event, span) : event;
      case EventType.TOOL_CALL_START:
        calls.set(event.toolCallId as string, { name: String(event.toolCallName) });
        break;
      case EventType.TOOL_CALL_END: {
        const call = calls.get(event.toolCallId as string);
        if (call) Object.assign(call, { at: Date.now(), began: performance.now() });
        break;
      }
      case EventType.TOOL_CALL_RESULT:
        finishTool(event);
        break;
      case EventType.RUN_FINISHED:
      case EventType.RUN_ERROR:
        terminal = event;
        break;
      default:
    }
    return event;
  }

  function over(reason?: unknown): void {
    if (isOver) return;
    isOver = true;
    const { outcome, error } = toRunReport(terminal, reason ?? (context.signal.reason as unknown));
    const usage = usageOf(terminal);
    const [{ provider, model } = {}] = usage;
    const runLabels: Labels = {
      ...labels,
      ...(provider !== undefined && { "gen_ai.provider.name": provider }),
      ...(model !== undefined && { "gen_ai.request.model": model }),
    };
    const type = outcome === "error" ? toErrorType(error) : undefined;
    const ending = {
      ...(type !== undefined && { "error.type": type }),
      "agui.run.outcome": outcome,
    };
    span.setAttributes({ ...runLabels, ...ending, ...toTokenAttributes(usage) });
    if (type !== undefined) span.setStatus({ code: failed });
    span.end();
    meters.active.add(-1, labels);
    meters.run.record(secondsSince(beganAt), { ...runLabels, ...ending });
    for (const [event, count] of counts) meters.events.add(count, { "agui.event.type": event });
    meters.spend(usage, runLabels);
  }

  return { within: (body) => api.context.with(place, body), observe, over };
}

function toTokenAttributes(usage: ReturnType<typeof usageOf>): Record<string, number> {
  const sums = {
    "gen_ai.usage.input_tokens": sumOf(usage, "inputTokens"),
    "gen_ai.usage.output_tokens": sumOf(usage, "outputTokens"),
    "gen_ai.usage.cache_read.input_tokens": sumOf(usage, "cachedInputTokens"),
  };
  const known: Record<string, number> = {};
  for (const [name, sum] of Object.entries(sums)) if (sum !== undefined) known[name] = sum;
  return known;
}

// The host's own span around the request, or the trace context in the caller's headers.
function toParent(api: Api, { request }: RunContext): ReturnType<Api["context"]["active"]> {
  const active = api.context.active();
  if (api.trace.getSpan(active) || !request) return active;
  return api.propagation.extract(active, request.headers, {
    get: (headers, name) => headers.get(name) ?? undefined,
    keys: () => [],
  });
}

function withTraceId(event: BaseEvent, span: otel.Span): BaseEvent {
  const { traceId } = span.spanContext();
  return { ...event, metadata: { ...event.metadata, traceId } };
}

// A model may invent names; only declared ones are few enough for a label.
function isKnownTool(name: string, { tools }: RunAgentInput, context: RunContext): boolean {
  return [...tools, ...context.tools].some((tool) => tool.name === name);
}

// The same of codes: an agent may write anything there.
function toErrorType(code: string | undefined): string {
  return code !== undefined && /^[a-z][a-z/-]{0,63}$/.test(code) ? code : "_OTHER";
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}
