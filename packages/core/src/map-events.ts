import { Observable } from "rxjs/internal/Observable";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { Middleware, RunContext } from "./types.ts";

/** One event in; the same, another, several or none out. */
export type EventMapper = (event: BaseEvent) => BaseEvent | readonly BaseEvent[] | null | undefined;

/**
 * Middleware in its simple form. `mapEvents.perRun` makes the mapper anew for each run, so that
 * what it remembers belongs to that run alone.
 *
 * @example
 * ```ts
 * const noRaw = mapEvents((event) => (event.type === "RAW" ? null : event));
 * const numbered = mapEvents.perRun(() => {
 *   let count = 0;
 *   return (event) => ({ ...event, metadata: { count: ++count } });
 * });
 * ```
 */
export const mapEvents: {
  (mapper: EventMapper): Middleware;
  /** A mapper with state: made once per run. */
  perRun(create: (input: RunAgentInput, context: RunContext) => EventMapper): Middleware;
} = Object.assign((mapper: EventMapper): Middleware => perRun(() => mapper), { perRun });

function perRun(create: (input: RunAgentInput, context: RunContext) => EventMapper): Middleware {
  return (input, context, next) =>
    new Observable<BaseEvent>((subscriber) => {
      const map = create(input, context);
      return next(input, context).subscribe({
        next(event) {
          let mapped: ReturnType<EventMapper>;
          try {
            mapped = map(event);
          } catch (error) {
            subscriber.error(error);
            return;
          }
          if (Array.isArray(mapped)) for (const one of mapped) subscriber.next(one as BaseEvent);
          else if (mapped) subscriber.next(mapped as BaseEvent);
        },
        error: (reason) => subscriber.error(reason),
        complete: () => subscriber.complete(),
      });
    });
}
