import type { JsonPatchOperation } from "@ag-ui/core";
import { applyAll, PatchError } from "./patch.ts";
import type { Pass } from "./patch-bounds.ts";
import { UndoLog } from "./undo-log.ts";

// Containers that have left the document stay known until there are this many.
const maxFresh = 1024;

/**
 * A JSON document that patches are applied to, one after the other. Containers copied for one patch
 * are owned by the document and changed in place by the next, until the document is read.
 */
export class LiveDocument implements Pass {
  document: unknown;
  fresh: Set<object> | undefined;
  work = 0;
  undo: UndoLog | undefined;
  held = -1;
  readonly maxBytes: number;
  /** Another one after every change, and after every reading. */
  version = 0;

  /** `maxBytes`: how many bytes of JSON patches may make of it. */
  constructor(document: unknown, maxBytes: number = Number.POSITIVE_INFINITY) {
    this.document = document;
    this.maxBytes = maxBytes;
    this.fresh = undefined;
    this.undo = undefined;
  }

  /** What was read never changes. */
  read(): unknown {
    this.version++;
    this.fresh = undefined;
    return this.document;
  }

  /** Takes another document, which stays the giver's: it is copied where it changes. */
  write(document: unknown): void {
    this.version++;
    this.fresh = undefined;
    this.document = document;
    this.held = -1;
  }

  /** All or nothing. Throws a {@link PatchError}. */
  patch(operations: readonly JsonPatchOperation[]): void {
    this.version++;
    if (this.fresh && this.fresh.size > maxFresh) this.fresh = undefined;
    if (!isSimple(operations)) this.undo = new UndoLog();
    try {
      applyAll(this, operations);
      this.undo = undefined;
    } catch (error) {
      this.#takeBack();
      throw error;
    }
  }

  /** Why a patch would not apply. */
  refusal(operations: readonly JsonPatchOperation[]): PatchError | undefined {
    const { held } = this;
    this.undo = new UndoLog();
    try {
      applyAll(this, operations);
      return undefined;
    } catch (error) {
      if (error instanceof PatchError) return error;
      throw error;
    } finally {
      this.held = held;
      this.#takeBack();
    }
  }

  /**
   * Passes the document to a callback that does not keep it; changes made meanwhile go to a copy.
   */
  lend<T>(look: (document: unknown) => T): T {
    const { document, fresh, version } = this;
    this.fresh = undefined;
    try {
      return look(document);
    } finally {
      if (this.version === version) this.fresh = fresh;
    }
  }

  #takeBack(): void {
    const { undo } = this;
    this.undo = undefined;
    undo?.takeBack();
  }
}

/** One operation that fails before it has changed anything, if it fails. */
function isSimple(operations: readonly JsonPatchOperation[]): boolean {
  return operations.length === 1 && operations[0]?.op !== "move";
}
