import { ulid } from "@holodeck/agui-core";
import type { AgentError, LogEntry } from "@holodeck/agui-core";

/** Who follows a run, and what it has not taken yet. */
export interface LogFollower {
  readonly id: string;
  queue: { readonly entries: readonly LogEntry[]; readonly isEnd: boolean }[];
  length: number;
  /** The log has more than the queue: it is read first. */
  isBehind: boolean;
  failed: AgentError | undefined;
  wake: () => void;
}

/** A follower that does not keep up reads the log again instead of a queue that grows. */
export const queueLength: number = 1024 * 1024;

export function createLogFollower(): LogFollower {
  return {
    id: ulid(),
    queue: [],
    length: 0,
    isBehind: true,
    failed: undefined,
    wake: () => undefined,
  };
}

/** What is in the log has to be read again, unless the end is in the queue. */
export function fallBehind(follower: LogFollower): void {
  const hasAll = !follower.isBehind && follower.queue.at(-1)?.isEnd === true;
  if (hasAll) return;
  follower.isBehind = true;
  follower.queue = [];
  follower.length = 0;
  follower.wake();
}

/** Empties the queue: its entries are taken, or the log is read. */
export function emptyQueue(follower: LogFollower): void {
  follower.isBehind = false;
  follower.queue = [];
  follower.length = 0;
}
