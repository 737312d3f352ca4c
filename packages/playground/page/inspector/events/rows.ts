import { deltaOf, subjectOf } from "./entries.ts";
import type { Entry } from "./entries.ts";
import { families, familyOf } from "./families.ts";
import type { Family } from "./families.ts";

/** One line of the timeline: an event, or several deltas that follow each other. */
export interface Row {
  readonly first: Entry;
  readonly entries: readonly Entry[];
  /** Characters of all deltas of the row. */
  readonly chars: number;
}

export interface RowsOptions {
  /** Consecutive deltas of one message or call become one row. */
  readonly isFolded: boolean;
}

/** The lines of a timeline. */
export function toRows(entries: readonly Entry[], { isFolded }: RowsOptions): Row[] {
  const rows: { first: Entry; entries: Entry[]; chars: number }[] = [];
  for (const entry of entries) {
    const chars = deltaOf(entry.event)?.length;
    const last = rows.at(-1);
    if (isFolded && chars !== undefined && last && isSameStream(last.first, entry)) {
      last.entries.push(entry);
      last.chars += chars;
    } else {
      rows.push({ first: entry, entries: [entry], chars: chars ?? 0 });
    }
  }
  return rows;
}

function isSameStream({ event: one }: Entry, { event: other }: Entry): boolean {
  return one.type === other.type && subjectOf(one) === subjectOf(other);
}

export interface Filter {
  /** Every word must be somewhere in the event's JSON, in any case. */
  readonly text: string;
  /** Families that are not shown. */
  readonly hidden: ReadonlySet<Family>;
}

/** The events that a filter lets through. */
export function filterEntries(entries: readonly Entry[], { text, hidden }: Filter): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(
    ({ event }) =>
      !hidden.has(familyOf(event.type)) && words.every((word) => searchable(event).includes(word)),
  );
}

/** How many events each family has; families without any are left out. */
export function countFamilies(entries: readonly Entry[]): [family: Family, count: number][] {
  const counts = new Map<Family, number>();
  for (const { event } of entries) {
    const family = familyOf(event.type);
    counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  return families.flatMap((family) => {
    const count = counts.get(family);
    return count === undefined ? [] : [[family, count]];
  });
}

// Typing in the filter asks all events again with each key.
const texts = new WeakMap<object, string>();

function searchable(event: object): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = JSON.stringify(event).toLowerCase();
    texts.set(event, text);
  }
  return text;
}
