import type { BaseEvent } from "@ag-ui/core";
import type { LogEntry } from "../contract/run-log.ts";

/** An entry with the estimate of its bytes, made once by the run. */
export interface SizedEntry extends LogEntry {
  readonly size: number;
  /** Deltas of one turn, one offset each; the event has all of them. */
  readonly deltas?: readonly string[] | undefined;
}

/** An entry that is still with its run. */
export interface OpenEntry extends SizedEntry {
  readonly event: BaseEvent;
  to: number;
  size: number;
  cuts: number[] | undefined;
  deltas: string[] | undefined;
}

/** The offset of an entry that is in no log: an end that could not be stored. */
export const noOffset = 0;

// A reader that starts inside is given the rest by the store, which holds lines together up to its own bound.
const maxDeltas = 512;
const maxSize = 32 * 1024;

/**
 * Adds a delta to the entry of the one before it: log, fold and encoder then meet a turn's text once, and
 * not once per token. With 200 deltas a run this took two thirds of what a delta costs beside the agent's own.
 * The caller knows that both are of one part and nothing but deltas.
 */
export function appendDelta(entry: OpenEntry, delta: string, size: number): boolean {
  const deltas = (entry.deltas ??= [entry.event.delta as string]);
  if (deltas.length >= maxDeltas || entry.size >= maxSize) return false;
  deltas.push(delta);
  entry.size += size;
  entry.to++;
  return true;
}

/** Joins the deltas of an entry, before it is delivered. */
export function sealDeltas(entry: OpenEntry): void {
  const { deltas } = entry;
  if (deltas === undefined) return;
  if (deltas.length === 1) {
    entry.deltas = undefined;
    return;
  }
  entry.event.delta = deltas.join("");
  let end = 0;
  entry.cuts = deltas.map((delta) => (end += delta.length));
}

/** What one delta of a line would be by itself. */
export function entryOfDelta(
  { from, at, event }: LogEntry,
  index: number,
  delta: string,
): LogEntry {
  const offset = from + index;
  return { from: offset, to: offset, at, event: { ...event, delta } };
}

/** The deltas of an entry that holds several of them, each as an entry; any other entry as it is. */
export function splitEntry(entry: LogEntry): readonly LogEntry[] {
  const text = entry.event.delta as string;
  let start = 0;
  return (
    entry.cuts?.map((end, index) => {
      const delta = text.slice(start, end);
      start = end;
      return entryOfDelta(entry, index, delta);
    }) ?? [entry]
  );
}

/** The part of an entry that follows an offset. */
export function cutAfter<T extends LogEntry>(entry: T & Partial<SizedEntry>, after: number): T {
  if (entry.from > after || !entry.cuts) return entry;
  const index = after - entry.from;
  const start = entry.cuts[index] ?? 0;
  const ends = entry.cuts.slice(index + 1).map((end) => end - start);
  const delta = (entry.event.delta as string).slice(start);
  const cuts = ends.length > 1 ? ends : undefined;
  const deltas = cuts && entry.deltas?.slice(index + 1);
  return { ...entry, from: after + 1, event: { ...entry.event, delta }, cuts, deltas };
}

/** The part of an entry up to an offset. */
export function cutUpTo(entry: LogEntry, last: number): LogEntry {
  if (entry.to <= last || !entry.cuts) return entry;
  const { from, at, event, cuts } = entry;
  const delta = (event.delta as string).slice(0, cuts[last - from]);
  return { from, to: last, at, event: { ...event, delta } };
}

/** What follows an offset. */
export function restAfter(entries: readonly SizedEntry[], after: number): SizedEntry[] {
  const rest: SizedEntry[] = [];
  // One without an offset is in no log, so no client has it.
  for (const entry of entries)
    if (entry.to > after || entry.to === 0) rest.push(cutAfter(entry, after));
  return rest;
}
