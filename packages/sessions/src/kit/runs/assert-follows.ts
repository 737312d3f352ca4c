import type { LogEntry } from "@holodeck/agui-core";
import { doesNotFollow } from "../storage/store-errors.ts";

/** Throws unless the offsets of the entries go on after the last one that is stored. */
export function assertFollows(runId: string, last: number, entries: readonly LogEntry[]): void {
  for (const { from, to } of entries) {
    if (from !== last + 1 || to < from) throw doesNotFollow(runId, from, last);
    last = to;
  }
}

/** The same for the entries among each other, where only the database knows the last one. */
export function assertConsecutive(runId: string, entries: readonly LogEntry[]): void {
  assertFollows(runId, entries[0]!.from - 1, entries);
}
