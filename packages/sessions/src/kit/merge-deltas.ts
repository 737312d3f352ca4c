import { mergeInto } from "@holodeck/agui-core/internal";
import type { LogEntry } from "@holodeck/agui-core";
import type { StoredEntry } from "@holodeck/agui-core/internal";

/**
 * Adds an entry to those of a run, as part of the last one where it continues that. The list holds copies: what
 * the caller passed stays as it was.
 */
export function addEntry(entries: StoredEntry[], next: LogEntry): void {
  if (mergeInto(entries.at(-1), next)) return;
  const { from, to, at, event, cuts } = next;
  entries.push({ from, to, at, event: { ...event }, cuts: cuts && [...cuts] });
}
