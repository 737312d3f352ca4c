import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Middleware } from "@holodeck/agui-core";
import { createTelemetryMeters } from "./telemetry-meters.ts";
import type { TelemetryMeters } from "./telemetry-meters.ts";
import { traceRun } from "./trace-run.ts";
import type { Api } from "./trace-run.ts";

export interface TelemetryOptions {
  /**
   * The module `@opentelemetry/api`. By default it is loaded if it is installed; a bundler cannot see
   * that, so give it there.
   */
  api?: object;
  /**
   * The provider of the model, such as `openai`. By default the one the agent reports with its
   * usage.
   */
  provider?: string;
  /** Adds the trace id to the metadata of RUN_STARTED, for problem reports. */
  exposeTraceId?: boolean;
}

/**
 * Traces and counts runs with OpenTelemetry, by its conventions for generative AI: a span per run and
 * per tool call, durations, time to the first event, tokens. Without the API installed it does nothing.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [telemetry()] });
 * ```
 */
export function telemetry(options: TelemetryOptions = {}): Middleware {
  assertOptions("telemetry", options, ["api", "provider", "exposeTraceId"]);
  if (options.api !== undefined && !isApi(options.api)) {
    throw new TypeError(
      `telemetry's api must be the module @opentelemetry/api, not ${describeValue(options.api)}.`,
    );
  }
  let api = options.api as Api | undefined;
  let meters: TelemetryMeters | undefined;
  let loading = api
    ? undefined
    : loadApi().then((loaded) => {
        api = loaded;
        loading = undefined;
      });

  return (input, context, next) => {
    if (!api && !loading) return next(input, context);
    return {
      subscribe(observer) {
        let subscription: { unsubscribe(): void } | undefined;
        let isStopped = false;

        function start(): void {
          if (isStopped) return;
          if (!api) {
            subscription = next(input, context).subscribe(observer);
            return;
          }
          // Not before the first run: a meter made before its provider is registered counts nothing.
          meters ??= createTelemetryMeters(api.metrics.getMeter("@holodeck/agui"));
          const trace = traceRun({ api, meters, options }, input, context);
          subscription = trace.within(() =>
            next(input, context).subscribe({
              next: (event) => observer.next(trace.observe(event)),
              error(reason) {
                trace.over(reason);
                observer.error(reason);
              },
              complete() {
                trace.over();
                observer.complete();
              },
            }),
          );
          const inner = subscription;
          subscription = {
            unsubscribe() {
              inner.unsubscribe();
              trace.over();
            },
          };
        }

        if (loading) loading.then(start).catch((error: unknown) => observer.error(error));
        else start();
        return {
          unsubscribe() {
            isStopped = true;
            subscription?.unsubscribe();
          },
        };
      },
    };
  };
}

function isApi(value: object): boolean {
  return ["trace", "context", "metrics", "propagation"].every((part) => part in value);
}

async function loadApi(): Promise<Api | undefined> {
  // Not as a literal: a bundler would fail on a peer that is not there.
  const name = "@opentelemetry/api";
  try {
    const loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as Api;
    return isApi(loaded) ? loaded : undefined;
  } catch {
    return undefined;
  }
}
