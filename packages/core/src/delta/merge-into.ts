import type { BaseEvent } from "@ag-ui/core";
import type { LogEntry } from "../contract/run-log.ts";
import { continuesPart, isPlainDelta } from "./bare-delta.ts";

/** A stored entry that can still take up the deltas that follow it. */
export interface StoredEntry extends LogEntry {
  to: number;
  event: LogEntry["event"];
  cuts?: number[] | undefined;
  /** How many texts its delta was put together from; nothing for one. */
  joins?: number | undefined;
}

// A merged entry is trimmed as a whole; past this many characters a new one is begun.
const maxLength = 32 * 1024;

/** Merges a delta into the previous entry when both are for the same part. */
export function mergeInto(last: StoredEntry | undefined, next: LogEntry): boolean {
  if (!last || !continuesPart(last.event, next.event)) return false;
  // What has been merged before was looked at then.
  if (!isMergeable(next.event) || !(last.cuts || isMergeable(last.event))) return false;
  const before = last.event.delta as string;
  if (before.length >= maxLength) return false;
  const delta = before + (next.event.delta as string);
  // The agent's own object is shared with the live followers: the first merge makes one of ours.
  if (last.cuts) last.event.delta = delta;
  else last.event = { ...last.event, delta };
  last.joins = (last.joins ?? 0) + 1;
  last.cuts = addCuts(
    last.cuts ?? [before.length],
    before.length,
    next.cuts ?? [delta.length - before.length],
  );
  last.to = next.to;
  return true;
}

// A new list has no spare capacity, which a log would retain. Only for one that at least doubles:
// else a long text of short lines would be copied again for each of them.
function addCuts(cuts: number[], start: number, more: readonly number[]): number[] {
  if (more.length > cuts.length) return cuts.concat(more.map((end) => start + end));
  for (const end of more) cuts.push(start + end);
  return cuts;
}

// A time belongs to its own delta.
function isMergeable(event: BaseEvent): boolean {
  return event.timestamp === undefined && isPlainDelta(event);
}
