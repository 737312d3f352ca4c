import { AgentError, systemClock } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Clock, Middleware, RunAgentInput, RunContext } from "@holodeck/agui-core";

export interface RunTimeoutOptions {
  /** How long a run may take, or a function that returns it. */
  ms?: number | ((input: RunAgentInput, context: RunContext) => number);
  /** How long it may send nothing. */
  idleMs?: number;
  /** For tests that hold time still. */
  clock?: Clock;
}

/**
 * Ends a run that takes too long, or is silent for too long, with RUN_ERROR `timeout`. The agent's
 * signal is aborted.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [runTimeout({ ms: 60_000, idleMs: 20_000 })] });
 * ```
 */
export function runTimeout(options: RunTimeoutOptions): Middleware {
  assertOptions("runTimeout", options, ["ms", "idleMs", "clock"]);
  const { ms, idleMs, clock = systemClock } = options;
  if (ms === undefined && idleMs === undefined) {
    throw new TypeError("runTimeout expects { ms } or { idleMs }, like { ms: 60_000 }.");
  }
  if (typeof ms !== "function" && ms !== undefined) assertTime("ms", ms);
  if (idleMs !== undefined) assertTime("idleMs", idleMs);

  return (input, context, next) => ({
    subscribe(observer) {
      const total = typeof ms === "function" ? assertTime("ms", ms(input, context)) : ms;
      const endAt = clock.now() + (total ?? Number.POSITIVE_INFINITY);
      let activeAt = clock.now();
      let timer: unknown;
      let isOver = false;
      let subscription: { unsubscribe(): void } | undefined;

      function over(): boolean {
        if (isOver) return false;
        isOver = true;
        clock.clearTimeout(timer);
        return true;
      }

      // One timer that is set again when it was too early costs less than one per event.
      function watch(): void {
        const now = clock.now();
        const silentAt = activeAt + (idleMs ?? Number.POSITIVE_INFINITY);
        if (now < endAt && now < silentAt) {
          timer = clock.setTimeout(watch, Math.min(endAt, silentAt) - now);
          return;
        }
        over();
        subscription?.unsubscribe();
        const message =
          now >= endAt
            ? `The run took longer than ${total} ms.`
            : `The run sent nothing for ${idleMs} ms.`;
        observer.error(new AgentError("timeout", message));
      }

      subscription = next(input, context).subscribe({
        next(event) {
          if (isOver) return;
          activeAt = idleMs === undefined ? activeAt : clock.now();
          observer.next(event);
        },
        error: (reason) => over() && observer.error(reason),
        complete: () => over() && observer.complete(),
      });
      if (!isOver) watch();
      return {
        unsubscribe() {
          over();
          subscription?.unsubscribe();
        },
      };
    },
  });
}

function assertTime(option: string, value: unknown): number {
  if (typeof value === "number" && value > 0) return value;
  throw new TypeError(
    `runTimeout's ${option} must be a number of milliseconds above 0, not ${describeValue(value)}.`,
  );
}
