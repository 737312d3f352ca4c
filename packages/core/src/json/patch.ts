import type { JsonPatchOperation } from "@ag-ui/core";
import { isEqualJson } from "./copy.ts";
import {
  fits,
  findAtPath,
  maxWork,
  overwritten,
  recount,
  TooLarge,
  valueOf,
  weigh,
} from "./patch-bounds.ts";
import type { Pass } from "./patch-bounds.ts";
import { asContainer, existing, parsePointer, readPath, Refusal, toIndex } from "./pointer.ts";
import type { Container, PointerPath } from "./pointer.ts";

const maxOperations = 10_000;

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
      if (!fits(pass, value)) recount(pass, value, findAtPath(pass, path));
      return replace(pass, path, value);
    }
    case "remove":
      return remove(pass, path);
    case "test":
      if (isEqualJson(readPath(pass.document, path), valueOf(pass, operation, path))) return;
      throw new Refusal("The value is different.");
    case "copy": {
      const value = readPath(pass.document, parsePointer(operation.from, "from"));
      weigh(pass, value, path.length);
      if (!fits(pass, value)) recount(pass, value, overwritten(pass, path));
      // From now on one container may be in two places, so none may be changed where it is.
      pass.fresh = undefined;
      keepDocument(pass);
      return add(pass, path, value);
    }
    case "move": {
      const from = parsePointer(operation.from, "from");
      const value = readPath(pass.document, from);
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

function add(pass: Pass, path: PointerPath, value: unknown): void {
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

function replace(pass: Pass, path: PointerPath, value: unknown): void {
  const key = path.at(-1);
  if (key === undefined) return setDocument(pass, value);
  const container = writableParent(pass, path);
  const name = existing(container, key);
  pass.undo?.keepMember(container, name);
  (container as Record<string, unknown>)[name] = value;
}

function remove(pass: Pass, path: PointerPath): void {
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
function writableParent(pass: Pass, path: PointerPath): Container {
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

function describe(operation: JsonPatchOperation | undefined): string {
  const { op, path } = operation ?? {};
  return typeof op === "string" && typeof path === "string"
    ? ` (${op.slice(0, 20)} ${path.slice(0, 100)})`
    : "";
}
