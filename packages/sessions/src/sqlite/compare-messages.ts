/** A message of a session, as JSON. */
export interface MessageRow {
  readonly position: number;
  readonly value: string;
}

/**
 * What has to be written so that the rows contain `after`. A history mostly grows at its end, loses its
 * oldest messages or has one replaced: those are found; from anything else on, all is written again.
 */
export function compareMessages(
  before: readonly MessageRow[],
  after: readonly string[],
): { changed: MessageRow[]; added: readonly string[]; removed: number[] } {
  const changed: MessageRow[] = [];
  const removed: number[] = [];
  let old = 0;
  let next = 0;
  while (old < before.length && next < after.length) {
    const { position } = before[old]!;
    const value = after[next]!;
    let same = old;
    while (same < before.length && before[same]!.value !== value) same++;
    if (same === before.length) {
      // Only the one at its place can be a new version of the same message.
      if (idOf(before[old]!.value) !== idOf(value)) break;
      changed.push({ position, value });
      old++;
    } else {
      for (; old < same; old++) removed.push(before[old]!.position);
      old++;
    }
    next++;
  }
  for (; old < before.length; old++) removed.push(before[old]!.position);
  return { changed, added: after.slice(next), removed };
}

function idOf(message: string): unknown {
  return (JSON.parse(message) as { id?: unknown }).id;
}
