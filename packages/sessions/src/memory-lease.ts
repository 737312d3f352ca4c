import type { LazyAbort, Lease } from "@holodeck/agui-core";
import type { StoredRun } from "./memory-run.ts";

/** A lease that knows its run, and makes the signal of its loss only for who asks. */
export class MemoryLease implements Lease {
  readonly principal: string;
  readonly threadId: string;
  readonly runId: string;
  readonly fence: number;
  readonly #run: StoredRun;
  readonly #lost: LazyAbort;

  constructor(run: StoredRun) {
    this.principal = run.key.principal;
    this.threadId = run.key.threadId;
    this.runId = run.key.runId;
    this.fence = run.fence;
    this.#run = run;
    this.#lost = run.lost!;
  }

  static runOf(lease: Lease): StoredRun | undefined {
    return #run in lease ? lease.#run : undefined;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  onLost(listener: () => void): () => void {
    const run = this.#run;
    run.onLost = listener;
    return () => {
      if (run.onLost === listener) run.onLost = undefined;
    };
  }
}
