import { systemClock } from "@holodeck/agui-core";
import {
  assertOptions,
  continuesPart,
  describeValue,
  isPlainDelta,
} from "@holodeck/agui-core/internal";
import type { BaseEvent, Clock, Middleware } from "@holodeck/agui-core";
import type { PlainDelta } from "@holodeck/agui-core/internal";

export interface ThrottleDeltasOptions {
  /** The shortest time between two deltas. By default 50 ms. */
  ms?: number;
  /** For tests that hold time still. */
  clock?: Clock;
}

// An agent that never waits lets no timer fire; what is held is bounded all the same.
const maxLength = 16 * 1024;

/**
 * Sends fewer and larger deltas: neighbours that continue the same text, reasoning or arguments are
 * joined. Nothing is lost and nothing changes places.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [throttleDeltas({ ms: 100 })] });
 * ```
 */
export function throttleDeltas(options: ThrottleDeltasOptions = {}): Middleware {
  assertOptions("throttleDeltas", options, ["ms", "clock"]);
  const { ms = 50, clock = systemClock } = options;
  if (typeof ms !== "number" || !(ms > 0)) {
    throw new TypeError(
      `throttleDeltas's ms must be a number of milliseconds above 0, not ${describeValue(ms)}.`,
    );
  }

  return (input, context, next) => ({
    subscribe(observer) {
      let held: PlainDelta | undefined;
      let sentAt = Number.NEGATIVE_INFINITY;
      let timer: unknown;

      function flush(): void {
        if (timer !== undefined) clock.clearTimeout(timer);
        timer = undefined;
        if (!held) return;
        const event = held;
        held = undefined;
        sentAt = clock.now();
        observer.next(event);
      }

      function take(event: BaseEvent): void {
        // Whatever else an event carries (metadata, the provider's own event) belongs to its own delta.
        if (!isPlainDelta(event)) {
          flush();
          observer.next(event);
          return;
        }
        if (held && continuesPart(held, event)) {
          held = { ...held, delta: held.delta + event.delta };
        } else {
          flush();
          held = event;
        }
        const wait = sentAt + ms - clock.now();
        // The first delta is sent immediately: the user is waiting for it.
        if (wait <= 0 || held.delta.length >= maxLength) flush();
        else timer ??= clock.setTimeout(flush, wait);
      }

      const subscription = next(input, context).subscribe({
        next: take,
        error(reason) {
          flush();
          observer.error(reason);
        },
        complete() {
          flush();
          observer.complete();
        },
      });
      return {
        unsubscribe() {
          subscription.unsubscribe();
          held = undefined;
          flush();
        },
      };
    },
  });
}
