import { Observable } from "rxjs/internal/Observable";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { describeValue } from "../base/options.ts";
import { standaloneContext } from "../agent/context.ts";
import { mapperOf, mapRun } from "./map-events.ts";
import type { CreateMapper } from "./map-events.ts";
import { composed, toRun } from "../agent/call-agent.ts";
import type { AgentLike, Subscribable } from "../contract/agent.ts";
import type { RunContext } from "../contract/context.ts";
import type { Middleware, Run } from "../contract/middleware.ts";

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
  const whole = (input: RunAgentInput, context?: RunContext): Observable<BaseEvent> =>
    run(input, context ?? standaloneContext(input));
  return Object.assign(whole, { [composed]: true });
}

/** Wraps a run in middleware, outermost first. Adjacent mappers become one layer. */
export function chain(run: Run, middleware: readonly Middleware[]): Run {
  let wrapped = run;
  for (let at = middleware.length - 1; at >= 0;) {
    const mappers: CreateMapper[] = [];
    let create = mapperOf(middleware[at]!);
    while (create) {
      mappers.push(create);
      create = --at >= 0 ? mapperOf(middleware[at]!) : undefined;
    }
    wrapped = mappers.length > 0 ? mapRun(wrapped, mappers) : wrap(wrapped, middleware[at--]!);
  }
  return wrapped;
}

function wrap(next: Run, layer: Middleware): Run {
  return (input, context) => toObservable(() => layer(input, context, next));
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
