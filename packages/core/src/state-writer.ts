import { EventType } from "@ag-ui/core";
import type { JsonPatch } from "@ag-ui/core";
// CommonJS to Node, which sees no export named `compare`.
import jsonPatch from "fast-json-patch";
import { create } from "mutative";
import { AgentError } from "./errors.ts";
import { cloneJson, isEqualJson, isShorterThan } from "./json.ts";
import { applyPatch, PatchError } from "./patch.ts";
import type { StateTracker } from "./state.ts";
import type { RunState } from "./types.ts";

export interface RunStateOptions {
  /** Follows the events that pass `push`; this module only reads it. */
  readonly tracker: StateTracker;
  /** The guard's input, or the paced one in front of it. */
  readonly push: (value: unknown) => void | Promise<void>;
}

// Without these, an array that shrinks becomes `replace /list/length`, which is not RFC 6902.
const patches = { pathAsArray: false, arrayLengthAssignment: false } as const;

/** `context.state`: every change becomes a snapshot (the first one) or a delta. */
export function createRunState({ tracker, push }: RunStateOptions): RunState {
  let copied: unknown;
  let copy: unknown;

  function snapshot(value: unknown): void | Promise<void> {
    return push({ type: EventType.STATE_SNAPSHOT, snapshot: value });
  }

  function set(next: unknown): void | Promise<void> {
    const { value, text } = cloneJson(next);
    if (!tracker.synced) return snapshot(value);
    if (!isSameKind(tracker.value, value)) {
      return isEqualJson(tracker.value, value) ? undefined : snapshot(value);
    }
    const operations = jsonPatch.compare(tracker.value as object, value as object) as JsonPatch;
    if (operations.length === 0) return;
    const isLarger = JSON.stringify(operations).length > text.length;
    if (isLarger || tryPatch(tracker.value, operations) === undefined) return snapshot(value);
    return push({ type: EventType.STATE_DELTA, delta: operations });
  }

  function update(change: (draft: never) => void): void | Promise<void> {
    const base = isObject(tracker.value) ? tracker.value : {};
    const [next, changes] = create(base, (draft) => refusePromise(change(draft as never)), {
      enablePatches: patches,
    });
    if (changes.length === 0) return;
    if (!tracker.synced || base !== tracker.value) return snapshot(cloneJson(next).value);

    // The copy keeps the event apart from objects that the author put into the draft.
    const { value, text } = cloneJson(changes);
    const operations = value as JsonPatch;
    const result = tryPatch(base, operations);
    // A hole, an `undefined`: mutative has no JSON word for it, a comparison does.
    if (result === undefined) return set(next);
    if (isEqualJson(result, base)) return;
    if (isShorterThan(result, text.length)) return snapshot(result);
    return push({ type: EventType.STATE_DELTA, delta: operations });
  }

  function patch(changes: JsonPatch): void | Promise<void> {
    const operations = cloneJson(changes).value as JsonPatch;
    let next: unknown;
    try {
      next = applyPatch(tracker.value, operations);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      void snapshot(tracker.value);
      throw new AgentError("agent-error", `The state patch does not apply. ${error.message}`, {
        cause: error,
      });
    }
    if (next === tracker.value) return;
    if (!tracker.synced) return snapshot(next);
    return push({ type: EventType.STATE_DELTA, delta: operations });
  }

  return {
    get<T>(): T {
      // A copy of the author's own: changing what `get` returned and setting it again is a change.
      if (copied !== tracker.value || copy === undefined) {
        copied = tracker.value;
        copy = cloneJson(copied).value;
      }
      return copy as T;
    },
    set,
    update,
    patch,
    resync: () => snapshot(tracker.value),
  };
}

function tryPatch(document: unknown, operations: JsonPatch): unknown {
  try {
    return applyPatch(document, operations);
  } catch (error) {
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isSameKind(left: unknown, right: unknown): boolean {
  return isObject(left) && isObject(right) && Array.isArray(left) === Array.isArray(right);
}

function refusePromise(result: unknown): void {
  if (!(result instanceof Promise)) return;
  // What it writes after its first `await` fails anyway: the draft is closed by then.
  result.catch(() => undefined);
  throw new TypeError("state.update takes a synchronous function; await first, then update.");
}
