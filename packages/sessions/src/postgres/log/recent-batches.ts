import type { Clock } from "@holodeck/agui-core";
import type { Batch } from "./batch.ts";

/**
 * What a run has appended last. Deltas are acknowledged before the server has them on disk, so a server that
 * crashes, or a standby that takes over, may lack the last of them: they are appended again from here.
 */
export interface RecentBatches {
  add(fence: number, batch: Batch): void;
  /** The batches between two offsets, or undefined when not all of them are here. */
  between(fence: number, after: number, before: number): readonly Batch[] | undefined;
  /** The last offset that was appended; 0 when it is not known. */
  last(fence: number): number;
  forget(fence: number): void;
}

interface KeptBatches {
  readonly batches: { readonly at: number; readonly batch: Batch }[];
  /** Of all of them. */
  length: number;
}

// The server writes what it has acknowledged within a second (three times `wal_writer_delay`).
const keepMs = 5_000;
const keepLength = 512 * 1024;

export function createRecentBatches(clock: Clock): RecentBatches {
  const runs = new Map<number, KeptBatches>();

  return {
    add(fence, batch) {
      const kept = runs.get(fence) ?? { batches: [], length: 0 };
      runs.set(fence, kept);
      const { batches } = kept;
      batches.push({ at: clock.now(), batch });
      kept.length += batch.length;
      while (
        batches.length > 0 &&
        (batches[0]!.at < clock.now() - keepMs || kept.length > keepLength)
      ) {
        kept.length -= batches.shift()!.batch.length;
      }
    },
    between(fence, after, before) {
      const found = (runs.get(fence)?.batches ?? [])
        .map(({ batch }) => batch)
        .filter(({ first, last }) => first > after && last < before);
      const isWhole = found[0]?.first === after + 1 && found.at(-1)?.last === before - 1;
      return isWhole ? found : undefined;
    },
    last: (fence) => runs.get(fence)?.batches.at(-1)?.batch.last ?? 0,
    forget: (fence) => void runs.delete(fence),
  };
}
