import { EventType } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";

/** A delta whose text says its offset. */
export function delta(offset: number): LogEntry {
  const event = { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m", delta: `${offset} ` };
  return { from: offset, to: offset, at: offset, event };
}

/** An entry that cannot be merged. */
export function mark(offset: number): LogEntry {
  const event = { type: EventType.CUSTOM, name: "mark", value: offset };
  return { from: offset, to: offset, at: offset, event };
}

export function ending(offset: number, run: { threadId: string; runId: string }): LogEntry {
  const { threadId, runId } = run;
  const event = { type: EventType.RUN_FINISHED, threadId, runId };
  return { from: offset, to: offset, at: offset, event };
}
