import type { LogEntry } from "@holodeck/agui-core";
import { mergeEntries } from "../kit/runs/merge-entries.ts";
import { entriesAfter } from "../kit/runs/run-record.ts";

/** What becomes one entry of a stream. */
export interface Pack {
  readonly from: number;
  readonly json: string;
  readonly count: number;
}

/** Neighbouring deltas merged, then written as JSON: usually one pack. */
export function packEntries(
  entries: readonly LogEntry[],
  bounds: { readonly count: number; readonly length: number },
): Pack[] {
  const packs: Pack[] = [];
  let parts: string[] = [];
  let from = 0;
  let length = 0;
  const flush = (): void => {
    if (parts.length > 0) packs.push({ from, json: `[${parts.join()}]`, count: parts.length });
    parts = [];
    length = 0;
  };
  for (const entry of mergeEntries(entries)) {
    if (parts.length === 0) from = entry.from;
    const part = JSON.stringify(entry);
    parts.push(part);
    length += part.length;
    if (length >= bounds.length || parts.length >= bounds.count) flush();
  }
  flush();
  return packs;
}

/** The entries of packs that follow an offset, merged again over the bounds of the packs. */
export function unpackEntries(packs: readonly string[], after: number): LogEntry[] {
  const entries = packs.flatMap((json) => JSON.parse(json) as LogEntry[]);
  return mergeEntries(entriesAfter(entries, after));
}
