import type { LogEntry } from "@holodeck/agui-core";
import { mergeInto } from "@holodeck/agui-core/internal";
import type { StoredEntry } from "@holodeck/agui-core/internal";

/** The entries of one batch, neighbouring deltas merged. What the caller passed stays as it was. */
export function mergeEntries(entries: readonly LogEntry[]): StoredEntry[] {
  const merged: StoredEntry[] = [];
  for (const entry of entries) {
    if (mergeInto(merged.at(-1), entry)) continue;
    const { from, to, at, event, cuts } = entry;
    // A merged event grows in place; the caller's own must not.
    const own = cuts ? { ...event } : event;
    merged.push({ from, to, at, event: own, cuts: cuts && [...cuts] });
  }
  return merged;
}
