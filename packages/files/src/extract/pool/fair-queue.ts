/** What waits for its turn, of several owners. */
export interface FairQueue<T extends Queued> {
  /** Adds an item at the end of its owner's line. */
  add(item: T): void;
  /** While the queue is too full, the owner who has most in it gives up the newest one: returns those. */
  trim(): readonly T[];
  /** The first item of the owner whose turn it is, among those that are let through. */
  take(isAllowed: (owner: string) => boolean): T | undefined;
  /** False: it does not wait. */
  remove(item: T): boolean;
  /** Removes and returns all of them. */
  clear(): readonly T[];
}

export interface Queued {
  readonly owner: string;
  /** What it holds in memory while it waits. */
  readonly bytes: number;
}

/** Owners take turns, whatever number of items each of them has. */
export function createFairQueue<T extends Queued>(limits: {
  readonly items: number;
  readonly bytes: number;
}): FairQueue<T> {
  // In the order of their turns; an owner without items is not in it.
  const lines = new Map<string, T[]>();
  let count = 0;
  let bytes = 0;

  function isFull(): boolean {
    return count > limits.items || (bytes > limits.bytes && count > 1);
  }

  function lineOf(owner: string): T[] {
    let line = lines.get(owner);
    if (!line) lines.set(owner, (line = []));
    return line;
  }

  function change(item: T, by: 1 | -1): void {
    count += by;
    bytes += by * item.bytes;
  }

  function dropNewest(): T {
    let longest: T[] = [];
    // Of two that have the same, the one who came last.
    for (const line of lines.values()) if (line.length >= longest.length) longest = line;
    const dropped = longest.at(-1)!;
    remove(dropped);
    return dropped;
  }

  function remove(item: T): boolean {
    const line = lines.get(item.owner);
    const at = line?.lastIndexOf(item) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) lines.delete(item.owner);
    change(item, -1);
    return true;
  }

  return {
    add(item) {
      lineOf(item.owner).push(item);
      change(item, 1);
    },
    trim() {
      const dropped: T[] = [];
      while (isFull()) dropped.push(dropNewest());
      return dropped;
    },
    take(isAllowed) {
      for (const [owner, line] of lines) {
        if (!isAllowed(owner)) continue;
        const item = line.shift()!;
        change(item, -1);
        // The next turn is another owner's.
        lines.delete(owner);
        if (line.length > 0) lines.set(owner, line);
        return item;
      }
      return undefined;
    },
    remove,
    clear() {
      const all = [...lines.values()].flat();
      lines.clear();
      count = bytes = 0;
      return all;
    },
  };
}
