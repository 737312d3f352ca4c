import type { AgentError, Lease, LogEntry } from "@holodeck/agui-core";
import { toEntryBatch } from "../kit/runs/entry-rows.ts";
import type { EntryBatch } from "../kit/runs/entry-rows.ts";
import { doesNotFollow, runLost } from "../kit/storage/store-errors.ts";
import type { Database } from "./database.ts";
import type { RunRows } from "./run-rows.ts";

export interface GroupCommit {
  append(lease: Lease, entries: readonly LogEntry[]): Promise<void>;
  /** Commits now what waits for the end of the turn. */
  flush(): void;
}

interface Waiting {
  readonly lease: Lease;
  readonly batch: EntryBatch;
  resolve(): void;
  reject(reason: unknown): void;
}

/** What all runs append in one turn of the event loop is one transaction; each append is whole or absent. */
export function createGroupCommit(
  db: Database,
  runs: RunRows,
  on: {
    /** Until when the lease of a run holds that was written to just now. */
    expiresAt(): number;
    written(fence: number): void;
    lost(fence: number): void;
  },
): GroupCommit {
  let waiting: Waiting[] = [];

  function flush(): void {
    const group = waiting;
    if (group.length === 0) return;
    waiting = [];
    const refused = new Map<Waiting, AgentError>();
    try {
      db.write(() => {
        const expiresAt = on.expiresAt();
        for (const one of group) {
          if (!runs.append(one.lease, one.batch, expiresAt)) {
            refused.set(one, commitRefusal(runs, one.lease, one.batch.first));
          }
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const one of group) {
      const error = refused.get(one);
      if (error) one.reject(error);
      else one.resolve();
    }
    for (const one of group) {
      const error = refused.get(one);
      if (!error) on.written(one.lease.fence);
      else if (error.code === "run-lost") on.lost(one.lease.fence);
    }
  }

  return {
    append(lease, entries) {
      return new Promise((resolve, reject) => {
        const batch = toEntryBatch(lease.runId, entries);
        if (waiting.push({ lease, batch, resolve, reject }) === 1) setImmediate(flush);
      });
    },
    flush,
  };
}

/** Why a run takes no entry at an offset. */
export function commitRefusal(runs: RunRows, lease: Lease, from: number): AgentError {
  const row = runs.byFence(lease.fence);
  const isOwned = row?.status === "running" && row.last !== from - 1;
  return isOwned ? doesNotFollow(lease.runId, from, row.last) : runLost(lease.runId);
}
