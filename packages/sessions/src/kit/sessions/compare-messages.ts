/** A message of a session, as JSON. */
export interface MessageRow {
  readonly position: number;
  readonly value: string;
}

/**
 * What has to be written so that the rows contain `after`. A history mostly grows at its end, loses its
 * oldest messages or has one replaced: those are found; from anything else on, all is written again. Each text
 * is looked at a few times, however many there are.
 */
export function compareMessages(
  before: readonly MessageRow[],
  after: readonly string[],
): { changed: MessageRow[]; added: readonly string[]; removed: number[] } {
  const changed: MessageRow[] = [];
  const removed: number[] = [];
  let places: Map<string, number[]> | undefined;
  let old = 0;
  let next = 0;
  while (old < before.length && next < after.length) {
    const { position, value: held } = before[old]!;
    const value = after[next]!;
    if (held === value) {
      old++;
      next++;
      continue;
    }
    places ??= placesOf(before);
    const same = firstFrom(places.get(value), old);
    if (same === undefined) {
      // Only the one at its place can be a new version of the same message.
      if (idOf(held) !== idOf(value)) break;
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

// The last place first, so that those that are passed can be dropped from the end.
function placesOf(rows: readonly MessageRow[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = rows.length - 1; at >= 0; at--) {
    const { value } = rows[at]!;
    const same = places.get(value);
    if (same) same.push(at);
    else places.set(value, [at]);
  }
  return places;
}

function firstFrom(places: number[] | undefined, start: number): number | undefined {
  while (places && places.length > 0 && places.at(-1)! < start) places.pop();
  return places?.at(-1);
}

function idOf(message: string): unknown {
  return (JSON.parse(message) as { id?: unknown }).id;
}
