import type { LogEntry } from "@holodeck/agui-core";

/** One delta of a line that holds several, as the entry it would be by itself. */
export function toSingle({ from, at, event }: LogEntry, index: number, delta: string): LogEntry {
  const offset = from + index;
  return { from: offset, to: offset, at, event: { ...event, delta } };
}
