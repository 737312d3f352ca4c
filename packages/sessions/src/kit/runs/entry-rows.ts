import type { LogEntry } from "@holodeck/agui-core";
import { assertConsecutive } from "./assert-follows.ts";
import { mergeEntries } from "./merge-entries.ts";

/** An entry as a row of a table, its event as JSON. */
export interface EntryRow {
  readonly first: number;
  readonly last: number;
  readonly at: number;
  /** JSON as well. */
  readonly cuts: string | null;
  readonly event: string;
}

/** What one append brings, ready to be stored: neighbouring deltas merged. */
export interface EntryBatch {
  readonly first: number;
  readonly last: number;
  readonly rows: readonly EntryRow[];
}

/** Makes text of the entries of one append. Throws when their offsets do not follow each other. */
export function toEntryBatch(runId: string, entries: readonly LogEntry[]): EntryBatch {
  assertConsecutive(runId, entries);
  const rows = mergeEntries(entries).map(toRow);
  return { first: entries[0]!.from, last: entries.at(-1)!.to, rows };
}

function toRow({ from, to, at, event, cuts }: LogEntry): EntryRow {
  return {
    first: from,
    last: to,
    at,
    cuts: cuts ? JSON.stringify(cuts) : null,
    event: JSON.stringify(event),
  };
}

/** The entry of a row. */
export function fromEntryRow({ first, last, at, cuts, event }: EntryRow): LogEntry {
  return {
    from: first,
    to: last,
    at,
    event: JSON.parse(event) as LogEntry["event"],
    cuts: cuts === null ? undefined : (JSON.parse(cuts) as number[]),
  };
}
