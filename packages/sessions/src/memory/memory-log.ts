import { systemClock } from "@holodeck/agui-core";
import type {
  Clock,
  Lease,
  LogEntry,
  RunCommand,
  RunKey,
  RunLog,
  ThreadKey,
} from "@holodeck/agui-core";
import { isRequestBound, untilTrue } from "@holodeck/agui-core/internal";
import { isUsedRun } from "../kit/runs/lost-run.ts";
import { toRunRecord } from "../kit/runs/run-record.ts";
import { wakened } from "../kit/runs/waiting.ts";
import { runLost, runNotFound } from "../kit/storage/store-errors.ts";
import { slice, StoredRun } from "./memory-run.ts";

const lookMs = 20;

export interface MemoryLogOptions {
  /** Per run: entries, bytes, and how long it is kept after its end. */
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  /** Of all runs together; the oldest finished ones go first. May become more and less. */
  readonly room: { bytes: number };
  readonly clock?: Clock;
}

export interface MemoryLog extends RunLog {
  /** What all logs take. */
  readonly bytes: number;
  /** Removes finished runs, the oldest first, until the others take no more than there is room. */
  shrink(): void;
  isActive(key: ThreadKey): boolean;
  /** Throws `run-lost` unless the run of this lease is active. */
  assertHeld(lease: Lease): void;
  deleteThread(key: ThreadKey): void;
  clear(): void;
}

/** Run logs of this process. Appending is synchronous, so an event is durable before anyone sees it. */
export function createMemoryLog(options: MemoryLogOptions): MemoryLog {
  const { runLogEvents, runLogBytes, runLogMs, room, clock = systemClock } = options;
  const runs = new Map<string, StoredRun>();
  // The newest run of each thread, which leads to the others; only the newest can be running.
  const threads = new Map<string, StoredRun>();
  // In the order in which they ended, for the byte limit and the time limit alike.
  const finished = new Set<StoredRun>();
  let totalBytes = 0;
  let fences = 0;
  let sweep: unknown;

  function drop(run: StoredRun): void {
    finished.delete(run);
    if (runs.get(run.name) === run) runs.delete(run.name);
    const { older, newer } = run;
    if (older) older.newer = newer;
    if (newer) newer.older = older;
    else if (threads.get(run.threadName) === run) {
      if (older) threads.set(run.threadName, older);
      else threads.delete(run.threadName);
    }
    run.older = undefined;
    run.newer = undefined;
    totalBytes -= run.bytes;
    run.bytes = 0;
  }

  function expire(): void {
    const deadline = clock.now() - runLogMs;
    for (const run of finished) {
      if (run.closedAt! > deadline) break;
      drop(run);
    }
    arm();
  }

  function arm(): void {
    // Where no timer outlives its request, the next look at a run is the sweep.
    if (finished.size === 0 || sweep !== undefined || isRequestBound) return;
    sweep = clock.setTimeout(
      () => {
        sweep = undefined;
        expire();
      },
      Math.min(runLogMs, 60_000),
    );
  }

  function write(run: StoredRun, entries: readonly LogEntry[]): void {
    const before = run.bytes;
    run.write(entries);
    if (run.entries.length > runLogEvents || run.bytes > runLogBytes) {
      run.trim(runLogEvents, runLogBytes);
    }
    totalBytes += run.bytes - before;
    run.wake();
  }

  function makeRoom(): void {
    if (totalBytes <= room.bytes) return;
    for (const oldest of finished) {
      if (totalBytes <= room.bytes) break;
      drop(oldest);
    }
  }

  // Our own lease is the run: no name is put together for every append.
  function runOf(lease: Lease): StoredRun | undefined {
    const run = lease instanceof StoredRun ? lease : runs.get(nameOf(lease.principal, lease.runId));
    return run?.fence === lease.fence && run.status === "running" ? run : undefined;
  }

  function held(lease: Lease): StoredRun {
    const run = runOf(lease);
    if (!run) throw runLost(lease.runId);
    return run;
  }

  function isUsed(run: StoredRun): boolean {
    if (!isUsedRun(run)) return false;
    return run.status === "running" || (run.closedAt ?? 0) > clock.now() - runLogMs;
  }

  function activeIn(threadName: string): StoredRun | undefined {
    const run = threads.get(threadName);
    return run?.status === "running" ? run : undefined;
  }

  function find(principal: string, id: string): StoredRun | undefined {
    expire();
    return runs.get(nameOf(principal, id));
  }

  function findIn(key: RunKey): StoredRun | undefined {
    const run = find(key.principal, key.runId);
    return run?.threadId === key.threadId ? run : undefined;
  }

  // Another request appends, and its promise is not waited for where requests must not meet.
  function news(run: StoredRun, after: number, signal: AbortSignal): Promise<void> {
    if (!isRequestBound) return wakened(signal, (wake) => run.wait(wake));
    const isThere = (): boolean => run.last > after || run.status !== "running";
    return untilTrue(isThere, { clock, everyMs: lookMs, signal });
  }

  function send(key: RunKey, command: RunCommand): boolean {
    const run = findIn(key);
    if (run?.status !== "running") return false;
    run.inbox.deliver(command);
    return true;
  }

  return {
    get bytes() {
      return totalBytes;
    },
    shrink: makeRoom,
    open(key, init) {
      const name = nameOf(key.principal, key.runId);
      const old = runs.get(name);
      if (old && isUsed(old)) return { busy: toRunRecord(old, old) };
      const threadName = threadId(key);
      let older = threads.get(threadName);
      if (older?.status === "running") return { busy: toRunRecord(older, older) };
      if (old) {
        drop(old);
        older = threads.get(threadName);
      }
      const run = new StoredRun(key, init, { name, threadName, fence: ++fences });
      runs.set(name, run);
      if (older) {
        older.newer = run;
        run.older = older;
      }
      threads.set(threadName, run);
      return run;
    },
    append(lease, entries) {
      if (entries.length === 0) return;
      write(held(lease), entries);
      makeRoom();
    },
    close(lease, terminal, status) {
      const run = held(lease);
      write(run, [terminal]);
      run.status = status;
      run.closedAt = clock.now();
      finished.add(run);
      makeRoom();
      run.release();
      arm();
    },
    find(principal, id) {
      const run = find(principal, id);
      return run && toRunRecord(run, run);
    },
    active(key) {
      const run = activeIn(threadId(key));
      return run && toRunRecord(run, run);
    },
    read(key, after, limit = Number.POSITIVE_INFINITY) {
      const run = findIn(key);
      if (!run) throw runNotFound(key.runId);
      return slice(run, after, limit);
    },
    async *follow(key, after, signal) {
      const run = findIn(key);
      if (!run) return;
      run.followers++;
      try {
        let at = after;
        while (!signal.aborted) {
          const entries = slice(run, at, 256);
          if (entries.length > 0) {
            at = entries.at(-1)!.to;
            yield entries;
          } else if (run.status === "running") {
            await news(run, at, signal);
          } else {
            return;
          }
        }
      } finally {
        run.followers--;
      }
    },
    watchers: (key) => findIn(key)?.followers ?? 0,
    send,
    requestStop: (key) => send(key, { type: "stop" }),
    commands: (lease, on) => runOf(lease)?.inbox.listen(on) ?? noop,
    assertHeld: (lease) => void held(lease),
    isActive: (key) => activeIn(threadId(key)) !== undefined,
    deleteThread(key) {
      const threadName = threadId(key);
      for (let run = threads.get(threadName); run; run = threads.get(threadName)) {
        run.abandon();
        drop(run);
      }
    },
    clear() {
      if (sweep !== undefined) clock.clearTimeout(sweep);
      sweep = undefined;
      for (const run of threads.values()) run.abandon();
      runs.clear();
      threads.clear();
      finished.clear();
      totalBytes = 0;
    },
  };
}

export function threadId(key: ThreadKey): string {
  return nameOf(key.principal, key.threadId);
}

/**
 * Separates the ids of several principals. Without a principal, as in most servers without
 * authentication, an id is used as it is, so that no string is built and kept for it.
 */
function nameOf(principal: string, id: string): string {
  if (principal === "" && id.charCodeAt(0) !== 0) return id;
  // The length keeps apart what a separator would not: "a" and "b:c" from "a:b" and "c".
  return `\0${principal.length}:${principal}:${id}`;
}

function noop(): void {}
