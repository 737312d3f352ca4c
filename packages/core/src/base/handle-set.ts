/**
 * For objects that come and go with every run. In a `Set`, V8 links each outgrown table to the next one,
 * so that all past members stay alive until a full collection and are copied by every minor one. Here
 * the members are in slots that are cleared.
 */
export interface HandleSet<T> extends Iterable<T> {
  /** Returns its handle, a number above 0. */
  add(member: T): number;
  /** Removes the member of a handle. */
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
