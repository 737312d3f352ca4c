import type { JsonPatch } from "@ag-ui/core";

/** The state as the stream has told it so far. */
export interface StateTracker {
  readonly value: unknown;
  /** True once a snapshot was sent in this run. */
  readonly synced: boolean;
  snapshot(value: unknown): void;
  /** All or nothing. False: the patch does not apply, nothing changed. */
  delta(operations: JsonPatch): boolean;
}

export function createStateTracker(initial: unknown): StateTracker {
  throw new Error(`Not written yet: ${String(initial)}`);
}
