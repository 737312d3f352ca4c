import type { Awaitable } from "./agent.ts";
import type { BaseEvent } from "@ag-ui/core";

/**
 * Offsets count from 1 within a run. The owner of the run assigns them; a store only checks them.
 */
export interface LogEntry {
  /** First and last offset this entry covers; equal unless deltas were merged. */
  readonly from: number;
  readonly to: number;
  /** The owner's clock, in ms. Encoders never read a clock and never generate a random id. */
  readonly at: number;
  /** Guarded AG-UI 1.0: no CHUNK, no null, ids present. */
  readonly event: BaseEvent;
  /** Merged deltas: where each piece ends, so that a reader may start at any offset inside. */
  readonly cuts?: readonly number[] | undefined;
}

export interface ThreadKey {
  /** `''` without authentication. */
  readonly principal: string;
  readonly threadId: string;
}

export interface RunKey extends ThreadKey {
  readonly runId: string;
}

export type RunStatus = "running" | "finished" | "failed" | "cancelled" | "lost";

export interface RunRecord extends RunKey {
  /** Format of the log, so that the next version can read what this one wrote. */
  readonly format: 1;
  readonly agentId: string;
  /**
   * From the request that started the run: the default for followers that do not send a version.
   */
  readonly protocolVersion?: string | undefined;
  readonly status: RunStatus;
  /** The oldest offset that can still be read. */
  readonly first: number;
  readonly last: number;
}

/** The right to write one run, as `RunLog.open` grants it. */
export interface Lease extends RunKey {
  readonly fence: number;
  /**
   * Calls the listener once when the lease is lost: it ran out, another process took the run over, the
   * thread was deleted or the store was closed. Calls it at once when the lease is lost already. May be
   * called several times, with a listener each. A store drops the listeners when the run is closed.
   */
  onLost(listener: () => void): void;
}

export type RunCommand =
  | {
      readonly type: "stop";
      readonly reason?: "stopped" | "replaced";
      /** Only when the run has no followers left. */
      readonly ifUnfollowed?: boolean;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly result?: unknown;
      readonly error?: string;
      /** As the client measured it. */
      readonly executionTimeMs?: number;
    };

export interface RunLog {
  /**
   * Atomic: if the thread is free, returns record and lease; otherwise the holder. A holder whose lease
   * has expired is closed first, with RUN_ERROR `run-lost`. A `runId` is used once: on any thread of the
   * principal it is busy while it runs, and after its end as long as its log is stored. An ended run whose
   * log contains only its end never started; it is replaced.
   */
  open(
    key: RunKey,
    init: { agentId: string; protocolVersion?: string | undefined },
  ): Awaitable<Lease | { readonly busy: RunRecord }>;
  /**
   * All or nothing, with fence and offset checked. One call in flight per lease. Returning
   * undefined (not a promise) means "already durable".
   */
  append(lease: Lease, entries: readonly LogEntry[]): void | Promise<void>;
  /** The terminal entry, the status and the end of the lease in one step. */
  close(lease: Lease, terminal: LogEntry, status: RunStatus): Awaitable<void>;
  find(principal: string, runId: string): Awaitable<RunRecord | undefined>;
  active(key: ThreadKey): Awaitable<RunRecord | undefined>;
  /** Entries after an offset, a merged one cut there. `replay-gone` when they were trimmed. */
  read(key: RunKey, after: number, limit?: number): Awaitable<readonly LogEntry[]>;
  /**
   * Live tail, to the end of the run, for a process that does not own it. Counts as a watcher while
   * it is iterated, and closes a run whose owner has died.
   */
  follow(key: RunKey, after: number, signal: AbortSignal): AsyncIterable<readonly LogEntry[]>;
  /** Followers in all processes. */
  watchers(key: RunKey): Awaitable<number>;
  /** Sends to the owner, in any process. Resolves to false when the run is not running. */
  send(key: RunKey, command: RunCommand): Awaitable<boolean>;
  requestStop(key: RunKey): Awaitable<boolean>;
  commands(lease: Lease, on: (command: RunCommand) => void): () => void;
}
