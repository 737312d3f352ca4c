import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAgentHandler } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import { runAgent, runInput, scriptedAgent } from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { telemetry } from "../src/index.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

expect.extend(runMatchers);

const spans = new InMemorySpanExporter();
const points = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({
  exporter: points,
  exportIntervalMillis: 2 ** 31 - 1,
});

beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  api.propagation.setGlobalPropagator({
    inject: () => undefined,
    extract(context, carrier, getter) {
      const [, traceId, spanId] = String(getter.get(carrier, "traceparent")).split("-");
      if (traceId === undefined || spanId === undefined) return context;
      return api.trace.setSpanContext(context, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
    fields: () => ["traceparent"],
  });
});
afterAll(async () => {
  await reader.shutdown();
  for (const one of [api.context, api.trace, api.metrics, api.propagation]) one.disable();
});
beforeEach(async () => {
  await measured();
  spans.reset();
});

const named = (name: string): ReadableSpan =>
  spans.getFinishedSpans().find((span) => span.name === name)!;

interface Point {
  readonly name: string;
  readonly attributes: api.Attributes;
  readonly value: unknown;
}

/** What was measured since it was last asked. */
async function measured(): Promise<Point[]> {
  await reader.forceFlush();
  const list = points
    .getMetrics()
    .flatMap(({ scopeMetrics }) =>
      scopeMetrics.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor: { name }, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({ name, attributes, value })),
        ),
      ),
    );
  points.reset();
  return list;
}

const assistant = scriptedAgent([
  "It ",
  async (_, { emit }) => {
    const id = emit.toolCall("weather", { city: "Bern" }, { id: "call-1" });
    await Promise.resolve();
    api.trace.getTracer("model").startSpan("chat gpt").end();
    void emit.toolResult(id, "rain");
  },
  "rains.",
  (_, { emit }) =>
    emit.usage({ provider: "openai", model: "gpt-5", inputTokens: 10, outputTokens: 5 }),
]);

const ids = { threadId: "thread-77", runId: "run-77", principal: { id: "ada-77" } };
const clientTools = [{ name: "weather", description: "Knows the weather." }];

describe("telemetry", () => {
  test("opens a span per run by the conventions for generative AI", async () => {
    const run = await runAgent(assistant, { ...ids, clientTools, middleware: [telemetry()] });
    expect(run.text).toBe("It rains.");
    expect(run).toBeValidRun();
    const span = named("invoke_agent default");
    expect(span.kind).toBe(api.SpanKind.INTERNAL);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "default",
      "gen_ai.agent.id": "default",
      "gen_ai.conversation.id": "thread-77",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
      "agui.run.id": "run-77",
      "agui.run.outcome": "success",
    });
    expect(span.events.map(({ name }) => name)).toEqual(["agui.first_event"]);
    expect(span.status.code).toBe(api.SpanStatusCode.UNSET);
  });

  test("puts tools, and what the agent traces itself, under the run", async () => {
    const tracer = api.trace.getTracer("host");
    await tracer.startActiveSpan("POST /agui", async (request) => {
      await runAgent(assistant, { ...ids, middleware: [telemetry()] });
      request.end();
    });
    const [host, run] = [named("POST /agui"), named("invoke_agent default")];
    const [tool, model] = [named("execute_tool weather"), named("chat gpt")];
    expect(run.parentSpanContext?.spanId).toBe(host.spanContext().spanId);
    expect(tool.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
    expect(model.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
    expect(tool.kind).toBe(api.SpanKind.INTERNAL);
    expect(tool.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.name": "weather",
      "gen_ai.tool.call.id": "call-1",
    });
  });

  test("goes on with the trace that a request's headers name", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const { fetch } = createAgentHandler(assistant, {
      logger: silentLogger,
      middleware: [telemetry({ exposeTraceId: true })],
    });
    const response = await fetch(
      new Request("http://test.local/agui", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          traceparent: `00-${traceId}-b7ad6b7169203331-01`,
        },
        body: JSON.stringify(runInput()),
      }),
    );
    expect(await response.text()).toContain(`"metadata":{"traceId":"${traceId}"}`);
    expect(named("invoke_agent default").spanContext().traceId).toBe(traceId);
    expect(named("invoke_agent default").parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  });

  test("measures runs, tools, the first event and tokens, with no id in any label", async () => {
    await runAgent(assistant, { ...ids, clientTools, middleware: [telemetry()] });
    const seen = await measured();
    const run = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "default",
    };
    const spent = {
      ...run,
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
    };
    const of = (name: string): Point[] => seen.filter((point) => point.name === name);
    expect(of("gen_ai.invoke_agent.duration")).toMatchObject([
      { attributes: { ...spent, "agui.run.outcome": "success" }, value: { count: 1 } },
    ]);
    expect(of("gen_ai.execute_tool.duration")).toMatchObject([
      { attributes: { "gen_ai.tool.name": "weather" }, value: { count: 1 } },
    ]);
    expect(of("agui.run.time_to_first_event")).toMatchObject([
      { attributes: run, value: { count: 1 } },
    ]);
    expect(of("gen_ai.client.token.usage")).toMatchObject([
      { attributes: { ...spent, "gen_ai.token.type": "input" }, value: { sum: 10 } },
      { attributes: { ...spent, "gen_ai.token.type": "output" }, value: { sum: 5 } },
    ]);
    expect(of("agui.run.active")).toMatchObject([{ attributes: run, value: 0 }]);
    expect(of("agui.event.sent")).toContainEqual(
      expect.objectContaining({ attributes: { "agui.event.type": "RUN_FINISHED" }, value: 1 }),
    );
    const labels = JSON.stringify(seen.map(({ attributes }) => attributes));
    for (const id of ["thread-77", "run-77", "ada-77", "call-1"]) expect(labels).not.toContain(id);
  });

  test("does not make labels of names and codes that a model made up", async () => {
    const agent = scriptedAgent([
      (_, { emit }) => void emit.toolResult(emit.toolCall("made_up_1", {}), "?"),
      { type: "RUN_ERROR", message: "No.", code: "E-12345" },
    ]);
    await runAgent(agent, { clientTools, middleware: [telemetry()] });
    const seen = await measured();
    const labels = JSON.stringify(seen.map(({ attributes }) => attributes));
    expect(labels).not.toMatch(/made_up_1|E-12345/);
    expect(labels).toContain('"gen_ai.tool.name":"_OTHER"');
    expect(labels).toContain('"error.type":"_OTHER"');
  });

  test.for<[string, unknown, string]>([
    ["an error of the agent's", new Error("connect postgres://ada:pw@db"), "agent-error"],
    ["an error with a code", new AgentError("tool-error", "No."), "tool-error"],
  ])("marks a run that ended with %s, without its words", async ([, error, type]) => {
    await runAgent(scriptedAgent(["It", { throw: error }]), { middleware: [telemetry()] });
    const span = named("invoke_agent default");
    expect(span.status).toEqual({ code: api.SpanStatusCode.ERROR });
    expect(span.attributes).toMatchObject({ "error.type": type, "agui.run.outcome": "error" });
    expect(JSON.stringify([span.attributes, span.events])).not.toContain("postgres");
  });

  test("ends the span of a run that is stopped", async () => {
    const controller = new AbortController();
    const agent = scriptedAgent(["It", () => controller.abort(), { hang: true }]);
    await runAgent(agent, { middleware: [telemetry()], signal: controller.signal });
    const span = named("invoke_agent default");
    expect(span.attributes["agui.run.outcome"]).toBe("cancelled");
    expect(span.status.code).toBe(api.SpanStatusCode.UNSET);
    expect((await measured()).find(({ name }) => name === "agui.run.active")?.value).toBe(0);
  });

  test("opens no span for a tool that the client executes", async () => {
    const agent = scriptedAgent([(_, { emit }) => void emit.toolCall("ask", {})]);
    await runAgent(agent, { middleware: [telemetry({ api, provider: "openai" })] });
    expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(["invoke_agent default"]);
    expect(named("invoke_agent default").attributes["gen_ai.provider.name"]).toBe("openai");
  });

  test("does nothing where the API is not installed", async () => {
    const script = fileURLToPath(new URL("_without-telemetry.ts", import.meta.url));
    const args = [...sourceFlags, script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual({ isMissing: true, types: [5, 5] });
  });

  test.for<[unknown, string]>([
    [{ api: {} }, "telemetry's api must be the module @opentelemetry/api"],
    [{ tracer: 1 }, "tracer is not an option of telemetry."],
  ])("refuses %j", ([options, message]) => {
    expect(() => telemetry(options as never)).toThrow(message);
  });
});
