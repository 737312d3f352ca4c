// What bounds a patch: its work, and the depth and bytes of the document that it makes.
import { jsonBytes } from "./bytes.ts";
import { maxDepth, Refusal } from "./pointer.ts";
import type { PointerPath } from "./pointer.ts";
import { sizeOf } from "./size.ts";
import type { UndoLog } from "./undo-log.ts";

/** What one patch may add or compare: a few `copy` operations could otherwise make gigabytes. */
export const maxWork: number = 16 * 1024 * 1024;
const workPerNode = 16;

/** The document would have more bytes than it may. */
export class TooLarge extends Refusal {}

/** A document while operations are applied to it. */
export interface Pass {
  document: unknown;
  /** The containers it made itself, which it may change where they are. */
  fresh: Set<object> | undefined;
  /** What it may still weigh. */
  work: number;
  /** Absent when no intermediate state can be observed. */
  undo: UndoLog | undefined;
  /** About how many bytes of JSON the document has, rather too many than too few; negative when not counted. */
  held: number;
  /** How many it may have. */
  readonly maxBytes: number;
}

/** The value of an operation, weighed. */
export function valueOf(pass: Pass, operation: { value?: unknown }, path: PointerPath): unknown {
  if (!Object.hasOwn(operation, "value") || operation.value === undefined) {
    throw new Refusal('"value" is missing.');
  }
  weigh(pass, operation.value, path.length);
  return operation.value;
}

/** Refuses what is too deep, too much, or carries a prototype as an own member. */
export function weigh(pass: Pass, value: unknown, depth: number): void {
  pass.work -= typeof value === "string" ? workPerNode + value.length : workPerNode;
  if (pass.work < 0) throw new Refusal("The patch is too large.");
  if (typeof value !== "object" || value === null) return;
  if (depth >= maxDepth) throw new Refusal(`The value is nested deeper than ${maxDepth} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) weigh(pass, item, depth + 1);
    return;
  }
  if (Object.hasOwn(value, "__proto__"))
    throw new Refusal('The value contains a "__proto__" member.');
  for (const key of Object.keys(value)) {
    weigh(pass, (value as Record<string, unknown>)[key], depth + 1);
  }
}

/** Whether a value fits the document at a glance. */
export function fits(pass: Pass, value: unknown): boolean {
  if (pass.maxBytes === Number.POSITIVE_INFINITY) return true;
  if (pass.held < 0) pass.held = sizeOf(pass.document);
  pass.held += workPerNode + sizeOf(value);
  return pass.held <= pass.maxBytes;
}

/** Counts again, since some of it may be gone. Refuses a value that makes the document too large. */
export function recount(pass: Pass, value: unknown, replaced: unknown): void {
  const exact = jsonBytes(pass.document) - jsonBytes(replaced) + jsonBytes(value);
  if (exact > pass.maxBytes) {
    throw new TooLarge(`The document would be larger than ${pass.maxBytes} bytes.`);
  }
  pass.held = exact;
}

/** What an added value takes the place of: a member of an object, and nothing in an array. */
export function overwritten(pass: Pass, path: PointerPath): unknown {
  const isInserted = path.length > 0 && Array.isArray(findAtPath(pass, path.slice(0, -1)));
  return isInserted ? undefined : findAtPath(pass, path);
}

/** What a path leads to; undefined when it does not exist. */
export function findAtPath({ document }: Pass, path: PointerPath): unknown {
  let node = document;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node;
}
