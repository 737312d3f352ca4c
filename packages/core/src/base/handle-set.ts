/**
 * What comes and goes with every run. A `Set` would do, but V8 links each table that a set outgrew to
 * the next one, so that everything that was ever in it stays until a full collection: half of what a run
 * allocates was copied by every minor one. Here the members stand in boxes that are emptied.
 */
export interface HandleSet<T> extends Iterable<T> {
  /** Returns its handle, a number above 0. */
  add(member: T): number;
  /** Takes out what stands in a handle. */
  remove(handle: number): void;
  readonly size: number;
}

export function createHandleSet<T extends object>(): HandleSet<T> {
  const boxes = new Map<number, { member: T | undefined }>();
  let count = 0;
  return {
    add(member) {
      const handle = ++count;
      boxes.set(handle, { member });
      return handle;
    },
    remove(handle) {
      const box = boxes.get(handle);
      if (box) box.member = undefined;
      boxes.delete(handle);
    },
    get size() {
      return boxes.size;
    },
    *[Symbol.iterator]() {
      for (const { member } of boxes.values()) if (member) yield member;
    },
  };
}
