import { EventType } from "@ag-ui/core";
import type { JsonPatch } from "@ag-ui/core";
import type { Repairer } from "./repairs.ts";
import type { LooseEvent } from "./shapes.ts";
import { copyJson } from "../json/copy.ts";
import { LiveDocument } from "../json/live-document.ts";
import { PatchError } from "../json/patch.ts";
import { stateTooLarge } from "./history/budget-error.ts";

/** The state as the stream has sent it so far. */
export interface StateTracker {
  readonly value: unknown;
  /** True once a snapshot was sent in this run. */
  readonly synced: boolean;
  snapshot(value: unknown): void;
  /** All or nothing. False: the patch does not apply, nothing changed. Throws when the state would be too large. */
  delta(operations: JsonPatch): boolean;
}

/** A tracker with a view of its document that costs no copy. */
export interface LiveStateTracker extends StateTracker {
  readonly live: LiveDocument;
}

/**
 * Follows the state of a run, from what the client sent. No state counts as `{}`, as AG-UI has it. A patch that would
 * make it larger than `maxBytes` ends the run.
 */
export function createStateTracker(initial: unknown, maxBytes?: number): LiveStateTracker {
  return new Tracker(initial === undefined ? {} : initial, maxBytes);
}

/** A STATE_DELTA whose patch is applied to the state; a snapshot of the state when it does not apply. */
export function adoptStateDelta(
  event: LooseEvent,
  state: StateTracker,
  repairer: Repairer,
): LooseEvent {
  if (Array.isArray(event.delta) && state.delta(event.delta)) return event;
  repairer.repair("state-delta");
  const { delta: _, ...rest } = event;
  const snapshot = state.value === undefined ? {} : state.value;
  state.snapshot(snapshot);
  return { ...rest, type: EventType.STATE_SNAPSHOT, snapshot };
}

// The document itself, and not something around it: there is one of these per run.
class Tracker extends LiveDocument implements LiveStateTracker {
  synced = false;

  get live(): LiveDocument {
    return this;
  }

  get value(): unknown {
    return this.read();
  }

  snapshot(next: unknown): void {
    // The author may go on working with the object it has sent.
    this.write(copyJson(next));
    this.synced = true;
  }

  delta(operations: JsonPatch): boolean {
    try {
      this.patch(operations);
      return true;
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      if (error.isTooLarge) throw stateTooLarge(this.maxBytes);
      return false;
    }
  }
}
