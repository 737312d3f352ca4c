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
  forget(fence: number): void;
}

// The server writes what it has acknowledged within a second (three times `wal_writer_delay`).
const keepMs = 5_000;
const keepLength = 512 * 1024;

export function createRecentBatches(clock: Clock): RecentBatches {
  const runs = new Map<number, { readonly at: number; readonly batch: Batch }[]>();

  return {
    add(fence, batch) {
      const kept = runs.get(fence) ?? [];
      runs.set(fence, kept);
      kept.push({ at: clock.now(), batch });
      let length = kept.reduce((sum, one) => sum + one.batch.length, 0);
      while (kept.length > 0 && (kept[0]!.at < clock.now() - keepMs || length > keepLength)) {
        length -= kept.shift()!.batch.length;
      }
    },
    between(fence, after, before) {
      const found = (runs.get(fence) ?? [])
        .map(({ batch }) => batch)
        .filter(({ first, last }) => first > after && last < before);
      const isWhole = found[0]?.first === after + 1 && found.at(-1)?.last === before - 1;
      return isWhole ? found : undefined;
    },
    forget: (fence) => void runs.delete(fence),
  };
}
