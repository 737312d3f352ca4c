import { AgentError, LazyAbort, systemClock } from "@holodeck/agui-core";
import type {
  Clock,
  Lease,
  LogEntry,
  RunCommand,
  RunKey,
  RunLog,
  ThreadKey,
} from "@holodeck/agui-core";
import { MemoryLease } from "./memory-lease.ts";
import { cost, flatten, slice, toRecord, woken } from "./memory-run.ts";
import type { StoredRun } from "./memory-run.ts";
import { mergeInto } from "./merge.ts";
import type { StoredEntry } from "./merge.ts";

export interface MemoryLogOptions {
  /** Per run: entries, bytes, and how long it is kept after its end. */
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  /** Of all runs together; the oldest finished ones go first. */
  readonly logBytes: number;
  readonly clock?: Clock;
}

export interface MemoryLog extends RunLog {
  isActive(key: ThreadKey): boolean;
  deleteThread(key: ThreadKey): void;
  clear(): void;
}

/** Run logs of this process. Appending is synchronous, so an event is durable before anyone sees it. */
export function createMemoryLog(options: MemoryLogOptions): MemoryLog {
  const { runLogEvents, runLogBytes, runLogMs, logBytes, clock = systemClock } = options;
  const runs = new Map<string, StoredRun>();
  const active = new Map<string, StoredRun>();
  const threads = new Map<string, Set<StoredRun>>();
  // In the order in which they ended, for the byte limit and the time limit alike.
  const finished = new Set<StoredRun>();
  let totalBytes = 0;
  let fences = 0;
  let sweep: unknown;

  const runId = (key: { principal: string; runId: string }): string =>
    joined(key.principal, key.runId);

  function drop(run: StoredRun): void {
    finished.delete(run);
    if (runs.get(runId(run.key)) === run) runs.delete(runId(run.key));
    const thread = threads.get(threadId(run.key));
    thread?.delete(run);
    if (thread?.size === 0) threads.delete(threadId(run.key));
    totalBytes -= run.bytes;
    run.bytes = 0;
  }

  function expire(): void {
    const deadline = clock.now() - runLogMs;
    for (const run of finished) {
      if (run.closedAt > deadline) break;
      drop(run);
    }
    arm();
  }

  function arm(): void {
    if (finished.size === 0 || sweep !== undefined) return;
    sweep = clock.setTimeout(
      () => {
        sweep = undefined;
        expire();
      },
      Math.min(runLogMs, 60_000),
    );
  }

  function trim(run: StoredRun): void {
    let gone = 0;
    while (
      run.entries.length - gone > 1 &&
      (run.entries.length - gone > runLogEvents || run.bytes > runLogBytes)
    ) {
      const bytes = cost(run.entries[gone]!);
      run.bytes -= bytes;
      totalBytes -= bytes;
      gone++;
    }
    if (gone > 0) {
      run.entries.splice(0, gone);
      run.first = run.entries[0]!.from;
    }
    for (const oldest of finished) {
      if (totalBytes <= logBytes) break;
      drop(oldest);
    }
  }

  function write(run: StoredRun, entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      const before = run.bytes;
      if (mergeInto(run.entries.at(-1), entry)) {
        run.bytes += (entry.event.delta as string).length * 2 + 8;
      } else {
        const { from, to, at, event, cuts } = entry;
        const stored: StoredEntry = { from, to, at, event, cuts: cuts ? [...cuts] : undefined };
        run.entries.push(stored);
        run.bytes += cost(stored);
      }
      totalBytes += run.bytes - before;
    }
    run.last = entries.at(-1)!.to;
    if (run.entries.length > runLogEvents || run.bytes > runLogBytes || totalBytes > logBytes) {
      trim(run);
    }
    if (run.waiters) for (const wake of run.waiters) wake();
  }

  // Its owner may not go on, and nobody waits for what it would have said.
  function abandon(run: StoredRun): void {
    if (run.status !== "running") return;
    run.status = "lost";
    active.delete(threadId(run.key));
    run.listeners = undefined;
    run.lost?.abort(undefined);
    run.onLost?.();
    for (const wake of run.waiters ?? []) wake();
  }

  function owned(lease: Lease, entries: readonly LogEntry[]): StoredRun {
    // Our own lease knows its run: no key is put together for every append.
    const run = MemoryLease.runOf(lease) ?? runs.get(runId(lease));
    if (!run || run.fence !== lease.fence || run.status !== "running") {
      throw new AgentError("run-lost", `Run "${lease.runId}" is no longer owned by this process.`);
    }
    let { last } = run;
    for (const { from, to } of entries) {
      if (from !== last + 1 || to < from) {
        throw new AgentError(
          "internal",
          `Run "${lease.runId}": offset ${from} does not follow ${last}.`,
        );
      }
      last = to;
    }
    return run;
  }

  function find(principal: string, id: string): StoredRun | undefined {
    expire();
    return runs.get(runId({ principal, runId: id }));
  }

  function findIn(key: RunKey): StoredRun | undefined {
    const run = find(key.principal, key.runId);
    return run?.key.threadId === key.threadId ? run : undefined;
  }

  function send(key: RunKey, command: RunCommand): boolean {
    const run = findIn(key);
    if (run?.status !== "running") return false;
    run.unheard?.push(command);
    for (const listener of run.listeners ?? []) listener(command);
    return true;
  }

  return {
    open(key, init) {
      const busy = active.get(threadId(key));
      if (busy) return { busy: toRecord(busy) };
      const old = runs.get(runId(key));
      if (old?.status === "running") return { busy: toRecord(old) };
      if (old) drop(old);
      const run: StoredRun = {
        key: { principal: key.principal, threadId: key.threadId, runId: key.runId },
        agentId: init.agentId,
        protocolVersion: init.protocolVersion,
        fence: ++fences,
        lost: new LazyAbort(),
        onLost: undefined,
        listeners: undefined,
        waiters: undefined,
        status: "running",
        unheard: [],
        entries: [],
        first: 1,
        last: 0,
        bytes: 0,
        closedAt: 0,
        followers: 0,
      };
      runs.set(runId(key), run);
      active.set(threadId(key), run);
      const thread = threads.get(threadId(key));
      if (thread) thread.add(run);
      else threads.set(threadId(key), new Set([run]));
      return new MemoryLease(run);
    },
    append(lease, entries) {
      if (entries.length > 0) write(owned(lease, entries), entries);
    },
    close(lease, terminal, status) {
      const run = owned(lease, [terminal]);
      run.status = status;
      run.closedAt = clock.now();
      active.delete(threadId(run.key));
      finished.add(run);
      write(run, [terminal]);
      run.entries.forEach(flatten);
      // What is kept after the end is the log, and nothing of its owner.
      run.listeners = undefined;
      run.unheard = undefined;
      run.lost = undefined;
      run.onLost = undefined;
      arm();
    },
    find(principal, id) {
      const run = find(principal, id);
      return run && toRecord(run);
    },
    active(key) {
      const run = active.get(threadId(key));
      return run && toRecord(run);
    },
    read(key, after, limit = Number.POSITIVE_INFINITY) {
      const run = findIn(key);
      if (!run) {
        throw new AgentError("run-not-found", `There is no run "${key.runId}".`);
      }
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
            await woken((run.waiters ??= new Set()), signal);
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
    commands(lease, on) {
      const run = runs.get(runId(lease));
      if (!run || run.fence !== lease.fence || run.status !== "running") return () => {};
      (run.listeners ??= new Set()).add(on);
      const { unheard = [] } = run;
      run.unheard = undefined;
      // Later, so that the caller can stop listening on hearing the first.
      if (unheard.length > 0) {
        queueMicrotask(() => {
          for (const command of unheard) if (run.listeners?.has(on)) on(command);
        });
      }
      return () => void run.listeners?.delete(on);
    },
    isActive: (key) => active.has(threadId(key)),
    deleteThread(key) {
      for (const run of threads.get(threadId(key)) ?? []) {
        abandon(run);
        drop(run);
      }
    },
    clear() {
      if (sweep !== undefined) clock.clearTimeout(sweep);
      sweep = undefined;
      for (const run of active.values()) abandon(run);
      runs.clear();
      active.clear();
      threads.clear();
      finished.clear();
      totalBytes = 0;
    },
  };
}

export function threadId(key: ThreadKey): string {
  return joined(key.principal, key.threadId);
}

// The length keeps apart what a separator would not: "a" and "b:c" from "a:b" and "c".
function joined(principal: string, id: string): string {
  return `${principal.length}:${principal}:${id}`;
}
