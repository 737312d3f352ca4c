import { hashTag } from "../client/slot.ts";
import { createTail } from "./tail.ts";
import type { Tail, TailOptions } from "./tail.ts";

export interface TailsOptions extends Omit<TailOptions, "wakeKey"> {
  /** The stream that wakes a reader; with a tag one of that slot. */
  readonly wakeKey: (tag?: string) => string;
}

/**
 * Reads many streams: over one connection, or in a cluster, where one read takes keys of one slot only,
 * over one for each thread.
 */
export function createTails(options: TailsOptions): Tail {
  if (!options.commands.isCluster) return createTail({ ...options, wakeKey: options.wakeKey() });
  const groups = new Map<string, { readonly tail: Tail; readonly keys: Map<string, unknown> }>();
  let isClosed = false;
  return {
    add(key, id, on) {
      if (isClosed) return;
      const tag = hashTag(key);
      let group = groups.get(tag);
      if (!group) {
        const tail = createTail({ ...options, wakeKey: options.wakeKey(tag) });
        groups.set(tag, (group = { tail, keys: new Map() }));
      }
      group.keys.set(key, on);
      group.tail.add(key, id, on);
    },
    remove(key, on) {
      const tag = hashTag(key);
      const group = groups.get(tag);
      if (group?.keys.get(key) !== on) return;
      group.keys.delete(key);
      group.tail.remove(key, on);
      if (group.keys.size > 0) return;
      groups.delete(tag);
      group.tail.close();
    },
    close() {
      isClosed = true;
      for (const { tail } of groups.values()) tail.close();
      groups.clear();
    },
  };
}
