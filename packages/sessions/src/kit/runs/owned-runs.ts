import type { AgentError, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { runLost } from "../storage/store-errors.ts";
import { createCommandInbox } from "./command-inbox.ts";
import type { CommandInbox, CommandListener } from "./command-inbox.ts";
import { createOwnLease } from "./own-lease.ts";

/** The outcome of a write. `silent`: unknown. */
export type WriteResult = "ok" | "refused" | "silent";

/** A lease is renewed so often while it lasts. */
export const beatsPerLease = 3;

interface OwnedRun {
  readonly lease: Lease;
  /** Calls the listeners of the lease. */
  readonly lose: () => void;
  readonly inbox: CommandInbox;
  /** A write failed: until one succeeds the lease is left to run out. */
  isSuspended: boolean;
  /** Renewals that were left out for it. */
  missed: number;
  /** A write was not answered: it may have been made. */
  isDoubtful: boolean;
  /** Its end is being written: that it has ended is no loss. */
  isClosing: boolean;
}

/** The runs that this process owns. `Id` is what a store knows them by. */
export interface OwnedRuns<Id> {
  readonly size: number;
  add(key: RunKey, fence: number): Lease;
  has(id: Id): boolean;
  leaseOf(id: Id): Lease | undefined;
  ids(): Id[];
  /** The leases to renew now. A run that was left out for as long as a lease lasts is lost. */
  beat(): Lease[];
  /** The leases that would be renewed. */
  active(): Lease[];
  deliver(id: Id, command: RunCommand): void;
  listen(lease: Lease, on: CommandListener): () => void;
  wrote(lease: Lease, result: WriteResult): void;
  isDoubtful(lease: Lease): boolean;
  /** Its end is being written. */
  closing(lease: Lease): void;
  /** A look at the database has found that it does not run. */
  ended(id: Id): void;
  /** The run has ended, or belongs to another process: its owner is notified. */
  lose(id: Id): void;
  /** The same for a caller that gets an error. */
  lost(lease: Lease): AgentError;
  /** The run has ended here. */
  release(id: Id): void;
}

export interface OwnedRunsOptions<Id> {
  readonly idOf: (lease: Lease) => Id;
  /** Called when this process stops to own a run, for whatever reason. */
  readonly onGone?: (lease: Lease) => void;
}

export function createOwnedRuns<Id>({ idOf, onGone }: OwnedRunsOptions<Id>): OwnedRuns<Id> {
  const owned = new Map<Id, OwnedRun>();
  const find = (lease: Lease): OwnedRun | undefined => owned.get(idOf(lease));

  function release(id: Id): void {
    const run = owned.get(id);
    if (run && owned.delete(id)) onGone?.(run.lease);
  }

  function lose(id: Id): void {
    const run = owned.get(id);
    release(id);
    run?.lose();
  }

  function active(): Lease[] {
    const leases: Lease[] = [];
    for (const { lease, isSuspended, isClosing } of owned.values()) {
      if (!isSuspended && !isClosing) leases.push(lease);
    }
    return leases;
  }

  return {
    get size() {
      return owned.size;
    },
    add(key, fence) {
      const { lease, lose: loseLease } = createOwnLease(key, fence);
      owned.set(idOf(lease), {
        lease,
        lose: loseLease,
        inbox: createCommandInbox(),
        isSuspended: false,
        missed: 0,
        isDoubtful: false,
        isClosing: false,
      });
      return lease;
    },
    has: (id) => owned.has(id),
    leaseOf: (id) => owned.get(id)?.lease,
    ids: () => [...owned.keys()],
    beat() {
      for (const [id, run] of owned) {
        if (run.isSuspended && ++run.missed > beatsPerLease) lose(id);
      }
      return active();
    },
    active,
    deliver: (id, command) => owned.get(id)?.inbox.deliver(command),
    listen: (lease, on) => find(lease)?.inbox.listen(on) ?? (() => {}),
    wrote(lease, result) {
      const run = find(lease);
      if (!run) return;
      run.isClosing = false;
      run.isSuspended = result !== "ok";
      run.missed = 0;
      run.isDoubtful = result === "silent";
    },
    isDoubtful: (lease) => find(lease)?.isDoubtful ?? false,
    closing(lease) {
      const run = find(lease);
      if (run) run.isClosing = true;
    },
    ended(id) {
      // The answer to the close decides; a look may overtake it.
      if (!owned.get(id)?.isClosing) lose(id);
    },
    lose,
    lost(lease) {
      lose(idOf(lease));
      return runLost(lease.runId);
    },
    release,
  };
}
