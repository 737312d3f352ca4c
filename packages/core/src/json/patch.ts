import type { JsonPatchOperation } from "@ag-ui/core";
import { jsonBytes } from "./bytes.ts";
import { isEqualJson } from "./copy.ts";
import { sizeOf } from "./size.ts";
import type { UndoLog } from "./undo-log.ts";

const maxOperations = 10_000;
/** How deep a path may lead, and how deep a value may end up. */
export const maxDepth = 64;
// What one patch may add or compare: a few `copy` operations could otherwise make gigabytes.
const maxWork = 16 * 1024 * 1024;
const workPerNode = 16;

/** Why a patch does not apply, and which operation failed. */
export class PatchError extends Error {
  override readonly name = "PatchError";
  /** The failing operation; undefined when the patch as a whole is refused. */
  readonly operation: JsonPatchOperation | undefined;
  readonly index: number | undefined;
  /** Whether it fails only because the document would be too large. */
  readonly isTooLarge: boolean = false;

  constructor(reason: string, index?: number, operation?: JsonPatchOperation) {
    super(index === undefined ? reason : `Operation ${index}${describe(operation)}: ${reason}`);
    this.index = index;
    this.operation = operation;
  }
}

class LargePatchError extends PatchError {
  override readonly isTooLarge = true;
}

/**
 * Applies an RFC 6902 patch, all or nothing, and returns the new document. The given one stays as it
 * is; what did not change is shared with it. Throws a {@link PatchError} when an operation fails.
 *
 * @example
 * ```ts
 * applyPatch({ count: 1 }, [{ op: "replace", path: "/count", value: 2 }]); // { count: 2 }
 * ```
 */
export function applyPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const pass: Pass = {
    document,
    fresh: undefined,
    work: maxWork,
    undo: undefined,
    held: 0,
    maxBytes: Number.POSITIVE_INFINITY,
  };
  applyAll(pass, operations);
  return pass.document;
}

type Container = unknown[] | Record<string, unknown>;
type Path = readonly string[];

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

/** Applies operations one after the other, up to the first that fails. */
export function applyAll(pass: Pass, operations: readonly JsonPatchOperation[]): void {
  if (!Array.isArray(operations)) throw new PatchError("A patch must be an array of operations.");
  if (operations.length > maxOperations) {
    throw new PatchError(`A patch may have at most ${maxOperations} operations.`);
  }
  pass.work = maxWork;
  for (let index = 0; index < operations.length; index++) {
    const operation = operations[index] as JsonPatchOperation;
    try {
      applyOperation(pass, operation);
    } catch (error) {
      if (error instanceof Refusal) {
        const Failure = error instanceof TooLarge ? LargePatchError : PatchError;
        throw new Failure(error.message, index, operation);
      }
      throw error;
    }
  }
}

class Refusal extends Error {}
class TooLarge extends Refusal {}

function applyOperation(pass: Pass, operation: JsonPatchOperation): void {
  if (typeof operation !== "object" || operation === null)
    throw new Refusal("An operation must be an object.");
  const path = parsePointer(operation.path, "path");
  switch (operation.op) {
    case "add": {
      const value = valueOf(pass, operation, path);
      if (!fits(pass, value)) recount(pass, value, overwritten(pass, path));
      return add(pass, path, value);
    }
    case "replace": {
      const value = valueOf(pass, operation, path);
      if (!fits(pass, value)) recount(pass, value, found(pass, path));
      return replace(pass, path, value);
    }
    case "remove":
      return remove(pass, path);
    case "test":
      if (isEqualJson(read(pass.document, path), valueOf(pass, operation, path))) return;
      throw new Refusal("The value is different.");
    case "copy": {
      const value = read(pass.document, parsePointer(operation.from, "from"));
      weigh(pass, value, path.length);
      if (!fits(pass, value)) recount(pass, value, overwritten(pass, path));
      // From now on one container may be in two places, so none may be changed where it is.
      pass.fresh = undefined;
      keepDocument(pass);
      return add(pass, path, value);
    }
    case "move": {
      const from = parsePointer(operation.from, "from");
      const value = read(pass.document, from);
      if (operation.from === operation.path) return;
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw new Refusal("A value cannot be moved into itself.");
      }
      weigh(pass, value, path.length);
      remove(pass, from);
      return add(pass, path, value);
    }
    default:
      throw new Refusal("The operation is unknown.");
  }
}

function add(pass: Pass, path: Path, value: unknown): void {
  const key = path.at(-1);
  if (key === undefined) return setDocument(pass, value);
  const container = writableParent(pass, path);
  if (Array.isArray(container)) {
    const index = key === "-" ? container.length : toIndex(key, container.length);
    container.splice(index, 0, value);
    pass.undo?.add(() => void container.splice(index, 1));
  } else {
    pass.undo?.keepMember(container, key);
    container[key] = value;
  }
}

function replace(pass: Pass, path: Path, value: unknown): void {
  const key = path.at(-1);
  if (key === undefined) return setDocument(pass, value);
  const container = writableParent(pass, path);
  const name = existing(container, key);
  pass.undo?.keepMember(container, name);
  (container as Record<string, unknown>)[name] = value;
}

function remove(pass: Pass, path: Path): void {
  const key = path.at(-1);
  if (key === undefined) return setDocument(pass, null);
  const container = writableParent(pass, path);
  const name = existing(container, key);
  if (Array.isArray(container)) {
    const index = Number(name);
    const [item] = container.splice(index, 1);
    pass.undo?.add(() => void container.splice(index, 0, item));
  } else {
    pass.undo?.keepMembers(container);
    delete container[name];
  }
}

function setDocument(pass: Pass, value: unknown): void {
  keepDocument(pass);
  pass.document = value;
}

function keepDocument(pass: Pass): void {
  const { document } = pass;
  pass.undo?.add(() => (pass.document = document));
}

/** Copies the containers along a path, unless they are its own, and returns the last but one. */
function writableParent(pass: Pass, path: Path): Container {
  let container = writable(pass, pass.document);
  pass.document = container;
  for (let depth = 0; depth < path.length - 1; depth++) {
    const members = container as Record<string, unknown>;
    const key = existing(container, path[depth]!);
    container = writable(pass, members[key]);
    members[key] = container;
  }
  return container;
}

function writable(pass: Pass, node: unknown): Container {
  const container = asContainer(node);
  if (pass.fresh?.has(container)) return container;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  (pass.fresh ??= new Set()).add(copy);
  return copy;
}

/** What a pointer leads to, in a document that has it. */
export function readPointer(document: unknown, pointer: string): unknown {
  return read(document, parsePointer(pointer, "path"));
}

function read(document: unknown, path: Path): unknown {
  let node = document;
  for (const key of path) {
    const container = asContainer(node);
    node = (container as Record<string, unknown>)[existing(container, key)];
  }
  return node;
}

function asContainer(node: unknown): Container {
  if (typeof node !== "object" || node === null) throw new Refusal("The path does not exist.");
  return node as Container;
}

function existing(container: Container, key: string): string {
  if (Array.isArray(container)) toIndex(key, container.length - 1);
  else if (!Object.hasOwn(container, key)) throw new Refusal("The path does not exist.");
  return key;
}

function toIndex(key: string, highest: number): number {
  if (!/^(?:0|[1-9]\d*)$/.test(key)) throw new Refusal(`"${key}" is not an array index.`);
  const index = Number(key);
  if (index > highest) throw new Refusal(`The index ${key} is beyond the end.`);
  return index;
}

// One operation is looked at several times: by its author's run, its guard and its view.
let lastPointer = "";
let lastPath: Path = [];

function parsePointer(pointer: unknown, member: string): Path {
  if (pointer === "") return [];
  if (pointer === lastPointer) return lastPath;
  if (typeof pointer !== "string" || !pointer.startsWith("/")) throw notPointer(member);
  const isEscaped = pointer.includes("~");
  if (isEscaped && /~(?![01])/.test(pointer)) throw notPointer(member);
  const keys = pointer.slice(1).split("/", maxDepth + 1);
  if (keys.length > maxDepth) throw new Refusal(`"${member}" has more than ${maxDepth} segments.`);
  for (let i = 0; i < keys.length; i++) {
    const key = isEscaped ? keys[i]!.replaceAll("~1", "/").replaceAll("~0", "~") : keys[i]!;
    if (key === "__proto__" || (key === "prototype" && keys[i - 1] === "constructor")) {
      throw new Refusal("The path points to a prototype.");
    }
    keys[i] = key;
  }
  lastPointer = pointer;
  lastPath = keys;
  return keys;
}

function notPointer(member: string): Refusal {
  return new Refusal(`"${member}" is not a JSON pointer.`);
}

function valueOf(pass: Pass, operation: { value?: unknown }, path: Path): unknown {
  if (!Object.hasOwn(operation, "value") || operation.value === undefined) {
    throw new Refusal('"value" is missing.');
  }
  weigh(pass, operation.value, path.length);
  return operation.value;
}

/** Refuses what is too deep, too much, or carries a prototype as an own member. */
function weigh(pass: Pass, value: unknown, depth: number): void {
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
function fits(pass: Pass, value: unknown): boolean {
  if (pass.maxBytes === Number.POSITIVE_INFINITY) return true;
  if (pass.held < 0) pass.held = sizeOf(pass.document);
  pass.held += workPerNode + sizeOf(value);
  return pass.held <= pass.maxBytes;
}

/** Counts again, since some of it may be gone. Refuses a value that makes the document too large. */
function recount(pass: Pass, value: unknown, replaced: unknown): void {
  const exact = jsonBytes(pass.document) - jsonBytes(replaced) + jsonBytes(value);
  if (exact > pass.maxBytes) {
    throw new TooLarge(`The document would be larger than ${pass.maxBytes} bytes.`);
  }
  pass.held = exact;
}

// A value is added between the items of an array, and in place of the member of an object.
function overwritten(pass: Pass, path: Path): unknown {
  const isInserted = path.length > 0 && Array.isArray(found(pass, path.slice(0, -1)));
  return isInserted ? undefined : found(pass, path);
}

function found({ document }: Pass, path: Path): unknown {
  let node = document;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node;
}

function describe(operation: JsonPatchOperation | undefined): string {
  const { op, path } = operation ?? {};
  return typeof op === "string" && typeof path === "string"
    ? ` (${op.slice(0, 20)} ${path.slice(0, 100)})`
    : "";
}
