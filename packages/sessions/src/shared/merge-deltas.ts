import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, LogEntry } from "@holodeck/agui-core";

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
  if (!last || !isSamePart(last.event, next.event)) return false;
  // What has been merged before was looked at then.
  if (!isPlain(next.event) || !(last.cuts || isPlain(last.event))) return false;
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

// A copied list has no spare capacity, and a log keeps it. Only for one that at least doubles: otherwise
// a long text of short lines would be copied for each of them.
function addCuts(cuts: number[], start: number, more: readonly number[]): number[] {
  if (more.length > cuts.length) return cuts.concat(more.map((end) => start + end));
  for (const end of more) cuts.push(start + end);
  return cuts;
}

// Named one by one: this is asked for every delta.
function isSamePart(last: BaseEvent, next: BaseEvent): boolean {
  if (last.type !== next.type || last.subagentRunId !== next.subagentRunId) return false;
  switch (next.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.REASONING_MESSAGE_CONTENT:
      return last.messageId === next.messageId;
    case EventType.TOOL_CALL_ARGS:
      return last.toolCallId === next.toolCallId;
    default:
      return false;
  }
}

// Type, id, delta and an owner: anything more (timestamp, metadata, rawEvent) belongs to its own delta.
function isPlain(event: BaseEvent): boolean {
  let count = 0;
  for (const key in event) if (key !== "subagentRunId") count++;
  return count === 3;
}
