import type { BaseEvent, JsonPatchOperation } from "@ag-ui/core";
import { applyPatch, PatchError } from "@holodeck/agui-core";
import type { Entry } from "../events/entries.ts";
import { changesOfPatch, diffJson } from "./changes.ts";
import type { Change } from "./changes.ts";

/** The state after one event that changes it. */
export interface StateStep {
  readonly entry: Entry;
  readonly value: unknown;
  readonly changes: readonly Change[];
  /** Why the event changed nothing. */
  readonly problem?: string;
}

/**
 * Follows the state through the events of one exchange. Called again with more of them it reads only
 * what is new. Steps share what did not change.
 */
export function createStateHistory(initial: unknown): (entries: readonly Entry[]) => StateStep[] {
  let steps: StateStep[] = [];
  let seen = 0;
  let last: BaseEvent | undefined;

  return (entries) => {
    if (seen > 0 && entries[seen - 1]?.event !== last) {
      steps = [];
      seen = 0;
    }
    const more: StateStep[] = [];
    let value = steps.length === 0 ? initial : steps.at(-1)!.value;
    for (; seen < entries.length; seen++) {
      const step = readStep(entries[seen]!, value);
      if (!step) continue;
      more.push(step);
      value = step.value;
    }
    last = entries.at(-1)?.event;
    if (more.length > 0) steps = [...steps, ...more];
    return steps;
  };
}

function readStep(entry: Entry, before: unknown): StateStep | undefined {
  const event = entry.event as BaseEvent & { snapshot?: unknown; delta?: unknown };
  if (event.type === "STATE_SNAPSHOT") {
    return { entry, value: event.snapshot, changes: diffJson(before, event.snapshot) };
  }
  if (event.type !== "STATE_DELTA") return undefined;
  const patch = event.delta as readonly JsonPatchOperation[];
  try {
    const value = applyPatch(before, patch);
    return { entry, value, changes: changesOfPatch(before, value, patch) };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return { entry, value: before, changes: [], problem: error.message };
  }
}
