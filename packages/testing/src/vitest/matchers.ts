import { createGuard, EventType } from "@holodeck/agui-core";
import { createStateTracker } from "@holodeck/agui-core/internal";
import type { BaseEvent } from "@holodeck/agui-core";
import { recordRun } from "../recorded-run.ts";

/** A record of `runAgent`, or its events. */
export type RunLike = readonly BaseEvent[] | { readonly events: readonly BaseEvent[] };

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Vitest matchers for runs; register them with `expect.extend(runMatchers)`. */
export interface RunMatchers<R = unknown> {
  /** The events are a run that needs no repair. `state` is what the client had before. */
  toBeValidRun(options?: { state?: unknown }): R;
  /** The assistant's text is exactly this. */
  toHaveText(text: string): R;
}

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-explicit-any, typescript/no-empty-object-type -- must match vitest's own
  interface Matchers<T = any> extends RunMatchers<T> {}
}

/**
 * Matchers for runs.
 *
 * @example
 * ```ts
 * expect.extend(runMatchers);
 * expect(await runAgent(agent)).toBeValidRun();
 * ```
 */
export const runMatchers: {
  toBeValidRun(received: RunLike, options?: { state?: unknown }): Verdict;
  toHaveText(received: RunLike, text: string): Verdict;
} = {
  toBeValidRun(received, options = {}) {
    const fault = findFault(toEvents(received), options.state);
    return {
      pass: fault === undefined,
      message: () =>
        fault === undefined
          ? "Expected the run to need a repair, but it is valid."
          : `Expected a valid run: ${fault}`,
    };
  },
  toHaveText(received, text) {
    const actual = recordRun(toEvents(received)).text;
    return {
      pass: actual === text,
      message: () => `Expected the assistant to send ${show(text)}; it sent ${show(actual)}.`,
    };
  },
};

/** Describes what is wrong with a run; undefined when nothing is. */
function findFault(events: readonly BaseEvent[], state?: unknown): string | undefined {
  const [first] = events;
  if (first?.type !== EventType.RUN_STARTED && first?.type !== EventType.RUN_ERROR) {
    return `it begins with ${first?.type ?? "nothing"}, not with RUN_STARTED.`;
  }
  const terminals = events.filter(isTerminal).length;
  if (terminals !== 1 || !isTerminal(events.at(-1)!)) {
    return `it has ${terminals} terminal events and ends with ${events.at(-1)!.type}.`;
  }
  const { threadId = "", runId = "" } = first as { threadId?: string; runId?: string };
  const guard = createGuard({
    threadId,
    runId,
    emit: () => {},
    state: createStateTracker(state),
    ending: { interrupts: [], usage: [] },
  });
  for (const [index, event] of events.entries()) {
    guard.push(event);
    const [repair] = guard.repairs.keys();
    if (repair !== undefined) return `event ${index} needs the repair "${repair}": ${show(event)}.`;
  }
  return undefined;
}

function isTerminal({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR;
}

function toEvents(received: RunLike): readonly BaseEvent[] {
  return "events" in received ? received.events : received;
}

function show(value: unknown): string {
  return JSON.stringify(value);
}
