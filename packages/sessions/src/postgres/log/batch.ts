import { EventType } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";
import { toEntryBatch } from "../../kit/runs/entry-rows.ts";
import type { EntryBatch } from "../../kit/runs/entry-rows.ts";

/** What one append brings. */
export interface Batch extends EntryBatch {
  readonly length: number;
  /** It has the result of a tool: work that a crash of the server must not undo. */
  readonly isDurable: boolean;
}

export function toBatch(runId: string, entries: readonly LogEntry[]): Batch {
  const batch = toEntryBatch(runId, entries);
  return {
    ...batch,
    length: batch.rows.reduce((sum, { event }) => sum + event.length, 0),
    isDurable: entries.some(({ event }) => event.type === EventType.TOOL_CALL_RESULT),
  };
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
