import { Observable } from "rxjs/internal/Observable";
import type { Subscriber } from "rxjs";
import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import type { RunContext } from "../contract/context.ts";
import type { Middleware, Run } from "../contract/middleware.ts";

/** One event in; the same, another, several or none out. */
export type EventMapper = (event: BaseEvent) => BaseEvent | readonly BaseEvent[] | null | undefined;

/** Makes the mapper of one run. */
export type CreateMapper = (input: RunAgentInput, context: RunContext) => EventMapper;

/**
 * The simple form of middleware. `mapEvents.perRun` creates a mapper for each run, so that its
 * state belongs to that run alone.
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

const creates: unique symbol = Symbol("creates");

function perRun(create: CreateMapper): Middleware {
  const alone = [create];
  const layer: Middleware = (input, context, next) => mapRun(next, alone)(input, context);
  return Object.assign(layer, { [creates]: create });
}

/** What makes the mapper of a middleware that does nothing but map; nothing for any other. */
export function mapperOf(layer: Middleware): CreateMapper | undefined {
  return (layer as { [creates]?: CreateMapper })[creates];
}

/** A run behind mappers, innermost first. From one to the next an event goes as an argument. */
export function mapRun(run: Run, innermostFirst: readonly CreateMapper[]): Run {
  return (input, context) =>
    new Observable<BaseEvent>((subscriber) => {
      const mappers: EventMapper[] = [];
      // The outermost is made first, as if each stood for itself.
      for (let place = innermostFirst.length - 1; place >= 0; place--) {
        mappers.unshift(innermostFirst[place]!(input, context));
      }
      const mapped = new MappedRun(mappers, subscriber);
      return run(input, context).subscribe({
        next: (event) => mapped.next(event),
        error: (reason) => subscriber.error(reason),
        complete: () => subscriber.complete(),
      });
    });
}

class MappedRun {
  readonly #mappers: readonly EventMapper[];
  readonly #subscriber: Subscriber<BaseEvent>;

  constructor(mappers: readonly EventMapper[], subscriber: Subscriber<BaseEvent>) {
    this.#mappers = mappers;
    this.#subscriber = subscriber;
  }

  next(event: BaseEvent): void {
    try {
      this.#pass(event, 0);
    } catch (error) {
      this.#subscriber.error(error);
    }
  }

  #pass(event: BaseEvent, from: number): void {
    const mappers = this.#mappers;
    let one = event;
    for (let at = from; at < mappers.length; at++) {
      // A mapper may have ended the run: the next one then receives no more events.
      if (this.#subscriber.closed) return;
      const map = mappers[at]!;
      const mapped = map(one);
      if (Array.isArray(mapped)) {
        for (const part of mapped as readonly BaseEvent[]) this.#pass(part, at + 1);
        return;
      }
      if (!mapped) return;
      one = mapped as BaseEvent;
    }
    this.#subscriber.next(one);
  }
}
