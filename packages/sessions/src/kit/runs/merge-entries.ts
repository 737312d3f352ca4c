import type { LogEntry } from "@holodeck/agui-core";
import { mergeInto } from "@holodeck/agui-core/internal";
import type { StoredEntry } from "@holodeck/agui-core/internal";

/**
 * Adds an entry to those of a run, as part of the last one where it continues that. What the caller passed stays as
 * it was: a merged event grows in place, so the list has its own.
 */
export function addEntry(entries: StoredEntry[], next: LogEntry): void {
  if (mergeInto(entries.at(-1), next)) return;
  const { from, to, at, event, cuts } = next;
  entries.push({ from, to, at, event: cuts ? { ...event } : event, cuts: cuts && [...cuts] });
}

/** The entries of one batch, neighbouring deltas merged. */
export function mergeEntries(entries: readonly LogEntry[]): StoredEntry[] {
  const merged: StoredEntry[] = [];
  for (const entry of entries) addEntry(merged, entry);
  return merged;
}
