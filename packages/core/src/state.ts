import type { JsonPatch } from "@ag-ui/core";
import { cloneJson } from "./json.ts";
import { applyPatch, PatchError } from "./patch.ts";

/** The state as the stream has told it so far. */
export interface StateTracker {
  readonly value: unknown;
  /** True once a snapshot was sent in this run. */
  readonly synced: boolean;
  snapshot(value: unknown): void;
  /** All or nothing. False: the patch does not apply, nothing changed. */
  delta(operations: JsonPatch): boolean;
}

/** Follows the state of a run, from what the client sent. No state counts as `{}`, as AG-UI has it. */
export function createStateTracker(initial: unknown): StateTracker {
  return new Tracker(initial === undefined ? {} : initial);
}

class Tracker implements StateTracker {
  value: unknown;
  synced = false;

  constructor(value: unknown) {
    this.value = value;
  }

  snapshot(next: unknown): void {
    // The author may go on working with the object it has sent.
    this.value = cloneJson(next).value;
    this.synced = true;
  }

  delta(operations: JsonPatch): boolean {
    try {
      this.value = applyPatch(this.value, operations);
      return true;
    } catch (error) {
      if (error instanceof PatchError) return false;
      throw error;
    }
  }
}
