import { cutAfter } from "@holodeck/agui-core";
import type { LogEntry, RunKey, RunRecord } from "@holodeck/agui-core";
import { replayGone } from "../storage/store-errors.ts";

/** What a store keeps of a run besides its ids. */
export type StoredRecord = Pick<RunRecord, "agentId" | "status" | "first" | "last"> & {
  readonly protocolVersion?: string | null | undefined;
};

/** The record of a run, in the format that this release writes. */
export function toRunRecord(key: RunKey, stored: StoredRecord): RunRecord {
  return {
    principal: key.principal,
    threadId: key.threadId,
    runId: key.runId,
    format: 1,
    agentId: stored.agentId,
    protocolVersion: stored.protocolVersion ?? undefined,
    status: stored.status,
    first: stored.first,
    last: stored.last,
  };
}

/** Entries after an offset, a merged one cut there. */
export function entriesAfter(entries: readonly LogEntry[], after: number): readonly LogEntry[] {
  if (entries.length === 0 || entries[0]!.from > after) return entries;
  return entries.filter(({ to }) => to > after).map((entry) => cutAfter(entry, after));
}

/**
 * Entries after an offset as they were read. Throws `replay-gone` when some of them were trimmed, or are missing
 * from the log.
 */
export function readableAfter(
  runId: string,
  { first, last, entries }: { first: number; last: number; entries: readonly LogEntry[] },
  after: number,
): readonly LogEntry[] {
  const readable = entriesAfter(entries, after);
  const next = readable[0]?.from ?? Math.max(after, last) + 1;
  if (after < first - 1 || next > after + 1) throw replayGone(runId, Math.max(first, next), after);
  return readable;
}
