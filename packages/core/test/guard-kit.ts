import type { BaseEvent, JsonPatch } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { verifyEvents } from "@ag-ui/client";
import { verifyEvents as verifyEvents0 } from "ag-ui-client-0";
import jsonPatch from "fast-json-patch";
import { from } from "rxjs";
import { createGuard } from "../src/guard.ts";
import type { Guard, GuardOptions, RunEnding } from "../src/guard.ts";
import type { StateTracker } from "../src/state.ts";

/** The smallest tracker that keeps the contract. */
export function tracker(initial: unknown = {}): StateTracker {
  let value = initial;
  let synced = false;
  return {
    get value() {
      return value;
    },
    get synced() {
      return synced;
    },
    snapshot(next) {
      value = next;
      synced = true;
    },
    delta(operations: JsonPatch) {
      try {
        const copy = structuredClone(operations) as Parameters<typeof jsonPatch.applyPatch>[1];
        value = jsonPatch.applyPatch(value, copy, true, false).newDocument;
        return true;
      } catch {
        return false;
      }
    },
  };
}

export interface Run {
  guard: Guard;
  events: BaseEvent[];
  state: StateTracker;
  ending: RunEnding;
}

export function startGuard(options: Partial<GuardOptions> = {}): Run {
  const events: BaseEvent[] = [];
  const state = options.state ?? tracker();
  const ending: RunEnding = options.ending ?? { interrupts: [], usage: [] };
  const guard = createGuard({
    threadId: "thread",
    runId: "run",
    emit: (event) => events.push(event),
    ...options,
    state,
    ending,
  });
  return { guard, events, state, ending };
}

/** What a whole run looks like from outside. */
export function run(values: readonly unknown[], options: Partial<GuardOptions> = {}): Run {
  const started = startGuard(options);
  for (const value of values) started.guard.push(value);
  started.guard.complete();
  return started;
}

/** Everything the official verifiers and schemas have against a stream. */
export function faults(events: readonly BaseEvent[]): string[] {
  const found: string[] = [];
  const note = (who: string) => (error: unknown) => found.push(`${who}: ${String(error)}`);
  // Each client comes with an rxjs of its own; only the types mind.
  type Operator = (source: unknown) => { subscribe(observer: object): unknown };
  (verifyEvents() as unknown as Operator)(from(events)).subscribe({ error: note("1.0.0") });
  (verifyEvents0(false as never) as unknown as Operator)(from(events)).subscribe({
    error: note("0.0.59"),
  });
  for (const event of events) {
    const parsed = EventSchemas.safeParse(JSON.parse(JSON.stringify(event)));
    if (!parsed.success) found.push(`${JSON.stringify(event)}: ${parsed.error.message}`);
  }
  const terminals = events.filter(isTerminal);
  if (terminals.length !== 1) found.push(`${terminals.length} terminal events`);
  if (events.length > 0 && !isTerminal(events.at(-1)!)) found.push("something after the end");
  return found;
}

export function isTerminal({ type }: BaseEvent): boolean {
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}
