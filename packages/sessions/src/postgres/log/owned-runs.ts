import type { AgentError, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { createCommandInbox } from "../../kit/command-inbox.ts";
import type { CommandInbox, CommandListener } from "../../kit/command-inbox.ts";
import { createOwnLease } from "../../kit/own-lease.ts";
import { runLost } from "../../kit/store-errors.ts";

interface OwnedRun {
  /** Calls the listeners of the lease. */
  readonly lose: () => void;
  readonly inbox: CommandInbox;
  /** The number of the last command that was delivered. */
  seen: number;
  /** A write failed: until one succeeds the lease is left to run out. */
  isSuspended: boolean;
  /** Renewals that were left out for it. */
  missed: number;
  /** A write was not answered: it may have landed. */
  isDoubtful: boolean;
  /** Its end is on the way: that it has ended is no loss. */
  isClosing: boolean;
}

/** The runs that this process owns. */
export interface OwnedRuns {
  readonly size: number;
  add(key: RunKey, fence: number): Lease;
  has(fence: number): boolean;
  /** The fences to renew, and the number of the last command of each. */
  list(): { fences: number[]; seen: number[] };
  deliver(fence: number, number: number, command: RunCommand): void;
  listen(lease: Lease, on: CommandListener): () => void;
  /** The leases are renewed: a run that was left out for as long as a lease lasts is lost. */
  beat(beatsPerLease: number): void;
  /** The outcome of a write. `silent`: unknown. */
  wrote(lease: Lease, result: "ok" | "refused" | "silent"): void;
  isDoubtful(lease: Lease): boolean;
  /** Its end is being written. */
  closing(lease: Lease): void;
  /** A look has found that it does not run. */
  ended(fence: number): void;
  /** The run has ended, or belongs to another process: its owner is notified. */
  lose(fence: number): void;
  /** The same for a caller that gets an error. */
  lost(lease: Lease): AgentError;
  /** The run has ended here. */
  release(fence: number): void;
}

/** `onGone` is called when this process stops to own a run, for whatever reason. */
export function createOwnedRuns(onGone: (fence: number) => void): OwnedRuns {
  const owned = new Map<number, OwnedRun>();

  function lose(fence: number): void {
    const run = owned.get(fence);
    release(fence);
    run?.lose();
  }

  function release(fence: number): void {
    owned.delete(fence);
    onGone(fence);
  }

  return {
    get size() {
      return owned.size;
    },
    add(key, fence) {
      const { lease, lose: loseLease } = createOwnLease(key, fence);
      owned.set(fence, {
        lose: loseLease,
        inbox: createCommandInbox(),
        seen: 0,
        isSuspended: false,
        missed: 0,
        isDoubtful: false,
        isClosing: false,
      });
      return lease;
    },
    has: (fence) => owned.has(fence),
    list() {
      const active = [...owned].filter(([, run]) => !run.isSuspended && !run.isClosing);
      return { fences: active.map(([fence]) => fence), seen: active.map(([, { seen }]) => seen) };
    },
    deliver(fence, number, command) {
      const run = owned.get(fence);
      if (!run || number <= run.seen) return;
      run.seen = number;
      run.inbox.deliver(command);
    },
    listen: ({ fence }, on) => owned.get(fence)?.inbox.listen(on) ?? (() => {}),
    beat(beatsPerLease) {
      for (const [fence, run] of owned) {
        if (run.isSuspended && ++run.missed > beatsPerLease) lose(fence);
      }
    },
    wrote({ fence }, result) {
      const run = owned.get(fence);
      if (!run) return;
      run.isClosing = false;
      run.isSuspended = result !== "ok";
      run.missed = 0;
      run.isDoubtful = result === "silent";
    },
    isDoubtful: ({ fence }) => owned.get(fence)?.isDoubtful ?? false,
    closing({ fence }) {
      const run = owned.get(fence);
      if (run) run.isClosing = true;
    },
    ended(fence) {
      // The answer to the close decides; a look may overtake it.
      if (!owned.get(fence)?.isClosing) lose(fence);
    },
    lose,
    lost({ fence, runId }) {
      lose(fence);
      return runLost(runId);
    },
    release,
  };
}
