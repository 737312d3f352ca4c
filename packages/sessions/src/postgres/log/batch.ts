import { EventType } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";
import { assertFollows } from "../../kit/assert-follows.ts";
import { mergeEntries } from "../../kit/merge-entries.ts";

/** One entry as it is stored. */
interface EntryRow {
  readonly first: number;
  readonly last: number;
  readonly at: number;
  readonly cuts: string | null;
  readonly event: string;
}

/** What one append brings: neighbouring deltas merged, as JSON. */
export interface Batch {
  readonly first: number;
  readonly last: number;
  readonly rows: readonly EntryRow[];
  readonly length: number;
  /** It has the result of a tool: work that a crash of the server must not undo. */
  readonly isDurable: boolean;
}

export function toBatch(runId: string, entries: readonly LogEntry[]): Batch {
  const first = entries[0]!.from;
  assertFollows(runId, first - 1, entries);
  let length = 0;
  let isDurable = false;
  const rows = mergeEntries(entries).map(({ from, to, at, event, cuts }): EntryRow => {
    const text = JSON.stringify(event);
    length += text.length;
    isDurable ||= event.type === EventType.TOOL_CALL_RESULT;
    return {
      first: from,
      last: to,
      at,
      cuts: cuts ? JSON.stringify(cuts) : null,
      event: text,
    };
  });
  return { first, last: entries.at(-1)!.to, rows, length, isDurable };
}

/** Several batches that follow each other as one. */
export function joinBatches(batches: readonly Batch[]): Batch {
  return {
    first: batches[0]!.first,
    last: batches.at(-1)!.last,
    rows: batches.flatMap(({ rows }) => rows),
    length: batches.reduce((sum, { length }) => sum + length, 0),
    isDurable: true,
  };
}
