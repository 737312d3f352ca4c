import type { Counter, Histogram, Meter, UpDownCounter } from "@opentelemetry/api";
import type { Spent } from "../run-report.ts";

/** Names with few values each. Ids of runs, threads and people never appear here. */
export type Labels = Readonly<Record<string, string>>;

/** What is measured, each under the name that OpenTelemetry's conventions have for it, or one of ours. */
export interface TelemetryMeters {
  readonly run: Histogram;
  readonly tool: Histogram;
  readonly firstEvent: Histogram;
  readonly active: UpDownCounter;
  readonly events: Counter;
  spend(usage: readonly Spent[], labels: Labels): void;
}

const seconds = {
  unit: "s",
  advice: { explicitBucketBoundaries: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] },
};
const tokens = {
  unit: "{token}",
  advice: { explicitBucketBoundaries: [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144] },
};

export function createTelemetryMeters(meter: Meter): TelemetryMeters {
  const spent = meter.createHistogram("gen_ai.client.token.usage", {
    ...tokens,
    description: "Tokens used by a run.",
  });
  return {
    run: meter.createHistogram("gen_ai.invoke_agent.duration", {
      ...seconds,
      description: "Duration of runs.",
    }),
    tool: meter.createHistogram("gen_ai.execute_tool.duration", {
      ...seconds,
      description: "Duration of tool calls.",
    }),
    firstEvent: meter.createHistogram("agui.run.time_to_first_event", {
      ...seconds,
      description: "Time until a client received the first event.",
    }),
    active: meter.createUpDownCounter("agui.run.active", {
      unit: "{run}",
      description: "Active runs.",
    }),
    events: meter.createCounter("agui.event.sent", {
      unit: "{event}",
      description: "Events sent by finished runs.",
    }),
    spend(usage, labels) {
      for (const { provider, model, inputTokens, outputTokens } of usage) {
        const whose = {
          ...labels,
          ...(provider !== undefined && { "gen_ai.provider.name": provider }),
          ...(model !== undefined && { "gen_ai.request.model": model }),
        };
        if (inputTokens) spent.record(inputTokens, { ...whose, "gen_ai.token.type": "input" });
        if (outputTokens) spent.record(outputTokens, { ...whose, "gen_ai.token.type": "output" });
      }
    },
  };
}
