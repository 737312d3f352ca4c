import { Observable } from "rxjs/internal/Observable";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describeValue } from "./check-options.ts";
import { standaloneContext } from "./context.ts";
import { toRun } from "./to-agent.ts";
import type { AgentLike, Middleware, Run, RunContext, Subscribable } from "./types.ts";

/**
 * An agent behind middleware, outermost first; again an agent, usable with or without a handler.
 *
 * @example
 * ```ts
 * const agent = compose(myAgent, mapEvents((event) => (event.type === "RAW" ? null : event)));
 * ```
 */
export function compose(
  agent: AgentLike,
  ...middleware: readonly Middleware[]
): (input: RunAgentInput, context?: RunContext) => Observable<BaseEvent> {
  const run = chain(toRun(agent), middleware);
  return (input, context = standaloneContext(input)) => run(input, context);
}

/** Wraps a run in middleware, outermost first. */
export function chain(run: Run, middleware: readonly Middleware[]): Run {
  return middleware.reduceRight<Run>(
    (next, layer) => (input, context) => toObservable(() => layer(input, context, next)),
    run,
  );
}

// Any rxjs copy may be returned, and a middleware may throw before it returns: both become ours.
function toObservable(make: () => Subscribable<BaseEvent>): Observable<BaseEvent> {
  return new Observable((subscriber) => {
    const made = make();
    if (typeof (made as Partial<typeof made> | undefined)?.subscribe !== "function") {
      throw new TypeError(
        `A middleware must return an Observable, as next(input, context) does, ` +
          `not ${describeValue(made)}.`,
      );
    }
    const subscription = made.subscribe({
      next: (event) => subscriber.next(event),
      error: (reason) => subscriber.error(reason),
      complete: () => subscriber.complete(),
    });
    return () => subscription.unsubscribe();
  });
}
