/**
 * What comes and goes with every run. A `Set` would do, but V8 links each table that a set outgrew to
 * the next one, so that everything that was ever in it stays until a full collection: half of what a run
 * allocates was copied by every minor one. Here the members stand in boxes that are emptied.
 */
export interface Bag<T> extends Iterable<T> {
  /** Returns its place, a number above 0. */
  add(member: T): number;
  /** Takes out what stands in a place. */
  remove(place: number): void;
  readonly size: number;
}

export function createBag<T extends object>(): Bag<T> {
  const boxes = new Map<number, { member: T | undefined }>();
  let places = 0;
  return {
    add(member) {
      const place = ++places;
      boxes.set(place, { member });
      return place;
    },
    remove(place) {
      const box = boxes.get(place);
      if (box) box.member = undefined;
      boxes.delete(place);
    },
    get size() {
      return boxes.size;
    },
    *[Symbol.iterator]() {
      for (const { member } of boxes.values()) if (member) yield member;
    },
  };
}
