import type { JsonPatchOperation } from "@ag-ui/core";
import { isEqualJson } from "./json.ts";

const maxOperations = 10_000;
const maxDepth = 64;
// What one patch may add or compare: a few `copy` operations could otherwise make gigabytes.
const maxWork = 16 * 1024 * 1024;
const workPerNode = 16;

/** Why a patch does not apply, and which operation failed. */
export class PatchError extends Error {
  override readonly name = "PatchError";
  /** The failing operation; undefined when the patch as a whole is refused. */
  readonly operation: JsonPatchOperation | undefined;
  readonly index: number | undefined;

  constructor(reason: string, index?: number, operation?: JsonPatchOperation) {
    super(index === undefined ? reason : `Operation ${index}${describe(operation)}: ${reason}`);
    this.index = index;
    this.operation = operation;
  }
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
  if (!Array.isArray(operations)) throw new PatchError("A patch is an array of operations.");
  if (operations.length > maxOperations) {
    throw new PatchError(`A patch has at most ${maxOperations} operations.`);
  }
  const pass: Pass = { document, fresh: new Set(), work: maxWork };
  for (let index = 0; index < operations.length; index++) {
    const operation = operations[index]!;
    try {
      applyOperation(pass, operation);
    } catch (error) {
      if (error instanceof Refusal) throw new PatchError(error.message, index, operation);
      throw error;
    }
  }
  return pass.document;
}

type Container = unknown[] | Record<string, unknown>;
type Path = readonly string[];

/** One call of `applyPatch`. */
interface Pass {
  document: unknown;
  /** The containers it made itself, which it may change where they are. */
  readonly fresh: Set<object>;
  /** What it may still weigh. */
  work: number;
}

class Refusal extends Error {}

function applyOperation(pass: Pass, operation: JsonPatchOperation): void {
  if (typeof operation !== "object" || operation === null) throw new Refusal("Not an operation.");
  const path = parsePointer(operation.path, "path");
  switch (operation.op) {
    case "add":
      return add(pass, path, valueOf(pass, operation, path));
    case "replace":
      return replace(pass, path, valueOf(pass, operation, path));
    case "remove":
      return remove(pass, path);
    case "test":
      if (isEqualJson(read(pass.document, path), valueOf(pass, operation, path))) return;
      throw new Refusal("The value is another one.");
    case "copy": {
      const value = read(pass.document, parsePointer(operation.from, "from"));
      weigh(pass, value, path.length);
      // From now on one container may be in two places, so none may be changed where it is.
      pass.fresh.clear();
      return add(pass, path, value);
    }
    case "move": {
      const from = parsePointer(operation.from, "from");
      const value = read(pass.document, from);
      if (operation.from === operation.path) return;
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw new Refusal("A value cannot move into itself.");
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
  const [container, key] = writableParent(pass, path);
  if (key === undefined) pass.document = value;
  else if (!Array.isArray(container)) container[key] = value;
  else container.splice(key === "-" ? container.length : toIndex(key, container.length), 0, value);
}

function replace(pass: Pass, path: Path, value: unknown): void {
  const [container, key] = writableParent(pass, path);
  if (key === undefined) pass.document = value;
  else (container as Record<string, unknown>)[existing(container, key)] = value;
}

function remove(pass: Pass, path: Path): void {
  const [container, key] = writableParent(pass, path);
  if (key === undefined) pass.document = null;
  else if (Array.isArray(container)) container.splice(Number(existing(container, key)), 1);
  else delete container[existing(container, key)];
}

/** Copies the containers along a path, each once per patch; no key is given for the root. */
function writableParent(pass: Pass, path: Path): [container: Container, key: string | undefined] {
  if (path.length === 0) return [[], undefined];
  let container = writable(pass, pass.document);
  pass.document = container;
  for (let depth = 0; depth < path.length - 1; depth++) {
    const members = container as Record<string, unknown>;
    const key = existing(container, path[depth]!);
    container = writable(pass, members[key]);
    members[key] = container;
  }
  return [container, path.at(-1)];
}

function writable(pass: Pass, node: unknown): Container {
  const container = asContainer(node);
  if (pass.fresh.has(container)) return container;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  pass.fresh.add(copy);
  return copy;
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

function parsePointer(pointer: unknown, member: string): Path {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw new Refusal(`"${member}" is not a JSON pointer.`);
  }
  const keys = pointer.slice(1).split("/", maxDepth + 1);
  if (keys.length > maxDepth) throw new Refusal(`"${member}" is deeper than ${maxDepth}.`);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!.replaceAll("~1", "/").replaceAll("~0", "~");
    if (key === "__proto__" || (key === "prototype" && keys[i - 1] === "constructor")) {
      throw new Refusal("The path leads to a prototype.");
    }
    keys[i] = key;
  }
  return keys;
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
  if (depth >= maxDepth) throw new Refusal(`The value ends up deeper than ${maxDepth}.`);
  if (Array.isArray(value)) {
    for (const item of value) weigh(pass, item, depth + 1);
    return;
  }
  if (Object.hasOwn(value, "__proto__")) throw new Refusal("The value carries a prototype.");
  for (const key of Object.keys(value)) {
    weigh(pass, (value as Record<string, unknown>)[key], depth + 1);
  }
}

function describe(operation: JsonPatchOperation | undefined): string {
  const { op, path } = operation ?? {};
  return typeof op === "string" && typeof path === "string"
    ? ` (${op.slice(0, 20)} ${path.slice(0, 100)})`
    : "";
}
