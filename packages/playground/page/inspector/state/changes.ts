import type { JsonPatchOperation } from "@ag-ui/core";

/** One place of a document that is not what it was. */
export interface Change {
  readonly kind: "added" | "changed" | "removed";
  /** A JSON pointer, into the new document, or into the old one for what was removed. */
  readonly pointer: string;
}

/** The places in which two JSON documents differ, as deep down as possible. */
export function diffJson(before: unknown, after: unknown, pointer = ""): Change[] {
  if (before === after) return [];
  if (!isContainer(before) || !isContainer(after)) return [{ kind: "changed", pointer }];
  if (Array.isArray(before) !== Array.isArray(after)) return [{ kind: "changed", pointer }];
  const changes: Change[] = [];
  for (const key of Object.keys(before)) {
    const inner = childPointer(pointer, key);
    if (!Object.hasOwn(after, key)) changes.push({ kind: "removed", pointer: inner });
    else changes.push(...diffJson(before[key], after[key], inner));
  }
  for (const key of Object.keys(after)) {
    if (Object.hasOwn(before, key)) continue;
    changes.push({ kind: "added", pointer: childPointer(pointer, key) });
  }
  return changes;
}

/**
 * The changes as the patch states them: an item inserted into a list is one addition, although all
 * items after it have moved.
 */
export function changesOfPatch(
  before: unknown,
  after: unknown,
  patch: readonly JsonPatchOperation[],
): Change[] {
  const changes = new Map<string, Change>();
  const note = (change: Change): void => void changes.set(change.pointer, change);
  for (const operation of patch) {
    const { op, path } = operation;
    if (op === "test") continue;
    if (op === "remove") note({ kind: "removed", pointer: path });
    if (op === "move") note({ kind: "removed", pointer: operation.from });
    if (op === "remove") continue;
    const pointer = withIndex(after, path);
    const old = valueAt(before, pointer);
    if (old.isThere && !isInList(after, pointer)) {
      for (const change of diffJson(old.value, valueAt(after, pointer).value, pointer))
        note(change);
    } else {
      note({ kind: op === "replace" ? "changed" : "added", pointer });
    }
  }
  return [...changes.values()].filter(
    ({ kind, pointer }) => kind === "removed" || valueAt(after, pointer).isThere,
  );
}

/** The value at a pointer, if there is one. */
export function valueAt(document: unknown, pointer: string): { isThere: boolean; value?: unknown } {
  let value = document;
  for (const key of keysOf(pointer)) {
    if (!isContainer(value) || !Object.hasOwn(value, key)) return { isThere: false };
    value = value[key];
  }
  return { isThere: true, value };
}

/** The pointer of a member. */
export function childPointer(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The pointer of what holds the value at a pointer. */
export function parentPointer(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
}

/** The keys that a pointer is made of. */
export function keysOf(pointer: string): string[] {
  if (pointer === "") return [];
  const keys = pointer.slice(1).split("/");
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

// "-" is the place behind the last item: once the item is there, it has a number.
function withIndex(after: unknown, pointer: string): string {
  if (!pointer.endsWith("/-")) return pointer;
  const parent = parentPointer(pointer);
  const { value } = valueAt(after, parent);
  return Array.isArray(value) ? `${parent}/${value.length - 1}` : pointer;
}

function isInList(document: unknown, pointer: string): boolean {
  return pointer !== "" && Array.isArray(valueAt(document, parentPointer(pointer)).value);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
