import { EventType } from "@ag-ui/core";
import type { JsonPatch, JsonPatchOperation } from "@ag-ui/core";
import { create } from "mutative";
import { compareJson, isSameKind } from "../json/diff.ts";
import { AgentError } from "../contract/errors.ts";
import { stateTooLargeText } from "../guard/history/budget-error.ts";
import { endlessCalls } from "./calls/late-calls.ts";
import type { RunCalls } from "./calls/late-calls.ts";
import { cloneJson, copyJson, copyMember, isEqualJson, isShorterThan } from "../json/copy.ts";
import { applyPatch } from "../json/patch.ts";
import { maxDepth, readPointer } from "../json/pointer.ts";
import type { LiveStateTracker } from "../guard/state-tracker.ts";
import type { RunState } from "../contract/context.ts";

export interface RunStateOptions {
  /** Follows the events that pass `push`; this module only reads it. */
  readonly tracker: LiveStateTracker;
  /** The guard's input, or the paced one in front of it. */
  readonly push: (value: unknown, call: string) => void | Promise<void>;
  /** Absent outside a run. */
  readonly calls?: RunCalls;
}

// Without these, an array that shrinks becomes `replace /list/length`, which is not RFC 6902.
const patching = {
  enablePatches: { pathAsArray: false, arrayLengthAssignment: false },
} as const;

/** `context.state`: every change becomes a snapshot (the first one) or a delta. */
export function createRunState(options: RunStateOptions): RunState {
  const { tracker, push, calls = endlessCalls } = options;
  const { live } = tracker;
  let copied = -1;
  let copy: unknown;

  function snapshot(value: unknown): void | Promise<void> {
    return push({ type: EventType.STATE_SNAPSHOT, snapshot: value }, "state.set");
  }

  function delta(operations: JsonPatch): void | Promise<void> {
    return push({ type: EventType.STATE_DELTA, delta: operations }, "state.set");
  }

  function set(next: unknown): void | Promise<void> {
    if (calls.isLate()) return calls.refuse("state.set");
    if (!tracker.synced) return snapshot(copyJson(next));
    const now = live.document;
    let value = next;
    let operations = isSameKind(now, next) ? compareJson(now, next as object, maxDepth) : undefined;
    if (!operations) {
      ({ value } = cloneJson(next));
      if (!isSameKind(now, value)) return isEqualJson(now, value) ? undefined : snapshot(value);
      operations = compareJson(now, value as object, Infinity)!;
    }
    if (operations.length === 0) return;
    const isLarger = isShorterThan(value, JSON.stringify(operations).length);
    return isLarger || live.refusal(operations) ? snapshot(copyJson(value)) : delta(operations);
  }

  function update(change: (draft: never) => void): void | Promise<void> {
    if (calls.isLate()) return calls.refuse("state.update");
    const { version } = live;
    const now = live.document;
    const base = isObject(now) ? now : {};
    const [next, changes] = live.lend(() =>
      create(base, (draft) => refusePromise(change(draft as never)), patching),
    );
    if (changes.length === 0) return;
    // The state was changed in the meantime, so it is not the one this draft started with.
    if (!tracker.synced || base !== now || live.version !== version)
      return snapshot(copyJson(next));

    // Copies keep the event apart from objects that the author put into the draft.
    const operations = changes.map(copyOperation) as JsonPatch;
    // A hole, an `undefined`: mutative has no JSON word for it, a comparison does.
    if (live.refusal(operations)) return set(next);
    if (operations.every((operation) => isIdle(operation, live.document))) return;
    const isLarger = isShorterThan(next, JSON.stringify(operations).length);
    return isLarger ? snapshot(copyJson(next)) : delta(operations);
  }

  function patch(changes: JsonPatch): void | Promise<void> {
    if (calls.isLate()) return calls.refuse("state.patch");
    const operations = copyJson(changes) as JsonPatch;
    const refusal = live.refusal(operations);
    if (refusal) {
      if (refusal.isTooLarge) {
        throw new AgentError("session-too-large", stateTooLargeText(live.maxBytes));
      }
      void snapshot(tracker.value);
      throw new AgentError("agent-error", `The state patch does not apply. ${refusal.message}`, {
        cause: refusal,
      });
    }
    if (operations.every(isTest)) return;
    return tracker.synced ? delta(operations) : snapshot(applyPatch(tracker.value, operations));
  }

  return {
    get<T>(): T {
      // A copy of the author's own: changing what `get` returned and setting it again is a change.
      if (copied !== live.version || copy === undefined) {
        copied = live.version;
        copy = copyJson(live.document);
      }
      return copy as T;
    },
    set,
    update,
    patch,
    resync: () => (calls.isLate() ? calls.refuse("state.resync") : snapshot(tracker.value)),
  };
}

function copyOperation({
  op,
  path,
  value,
}: {
  op: string;
  path: unknown;
  value?: unknown;
}): object {
  return op === "remove" ? { op, path } : { op, path, value: copyMember(value) };
}

/** True for an operation that puts in a place what is there. */
function isIdle(operation: JsonPatchOperation, document: unknown): boolean {
  if (operation.op !== "replace") return false;
  return isEqualJson(readPointer(document, operation.path), operation.value);
}

/** True for an operation that changes nothing, wherever it is applied. */
function isTest(operation: JsonPatchOperation): boolean {
  const { op } = operation;
  return op === "test" || (op === "move" && operation.from === operation.path);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function refusePromise(result: unknown): void {
  if (!(result instanceof Promise)) return;
  // What it writes after its first `await` fails anyway: the draft is closed by then.
  result.catch(() => undefined);
  throw new TypeError("state.update takes a synchronous function; await first, then update.");
}
