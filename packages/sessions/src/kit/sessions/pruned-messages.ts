import type { Message, PrunedMessages } from "@holodeck/agui-core";

/** The messages of a thread around one change of it. */
interface Pruning {
  /** What the store held until now. */
  readonly held: readonly Message[];
  /** The history after the change, before anything is removed. */
  readonly all: readonly Message[];
  /** What is stored of it. */
  readonly kept: readonly Message[];
}

/**
 * The record of what a store has removed from the beginning of a thread, after one more change.
 *
 * A client may send the whole history each time, so messages that were removed earlier can be removed again.
 * Those are not counted twice: they precede `lastId`, or, if the client has dropped that message, the first
 * message that the store still held. If the client sends neither, it has gone back to a point before
 * everything that is stored; then the count only grows when more is removed than ever before. A message that
 * the client has put back this way, and that was stored again, counts again when it is removed. What a client
 * leaves out of its history is not pruned, and the count never becomes smaller.
 */
export function prunedAfter(
  before: PrunedMessages | undefined,
  { held, all, kept }: Pruning,
): PrunedMessages | undefined {
  if (kept === all || kept.length === all.length) return before;
  const keptIds = new Set(kept);
  const removed: { readonly id: string; readonly index: number }[] = [];
  for (const [index, message] of all.entries()) {
    if (!keptIds.has(message)) removed.push({ id: message.id, index });
  }
  const lastId = removed.at(-1)!.id;
  if (!before) return { count: removed.length, lastId };
  const heldIds = new Set(held.map(({ id }) => id));
  let known = all.findIndex(({ id }) => id === before.lastId);
  if (known === -1) known = all.findIndex(({ id }) => heldIds.has(id));
  const count =
    known === -1
      ? Math.max(before.count, removed.length)
      : before.count + removed.filter(({ id, index }) => heldIds.has(id) || index > known).length;
  return count === before.count && lastId === before.lastId ? before : { count, lastId };
}
