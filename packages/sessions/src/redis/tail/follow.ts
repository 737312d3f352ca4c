import { dateOf } from "@holodeck/agui-core/internal";
import type { AgentError, Clock, LogEntry, RunKey } from "@holodeck/agui-core";
import { lostEntry } from "../../kit/runs/lost-run.ts";
import { entriesAfter } from "../../kit/runs/run-record.ts";
import { storeClosed } from "../../kit/storage/store-errors.ts";
import { createHeartbeat } from "../../kit/storage/heartbeat.ts";
import type { RedisConnection } from "../client/connection.ts";
import type { Keys } from "../keys.ts";
import type { FoundRun, LogReader } from "../reader.ts";
import { watchScript } from "../scripts/run-scripts.ts";
import { emptyQueue, createLogFollower, fallBehind, queueLength } from "./follower.ts";
import type { LogFollower } from "./follower.ts";
import type { Tail, TailRow } from "./tail.ts";

/** Live tails of runs, wherever they run: all followers of a run in this process share what is read. */
export interface LogFollowers {
  follow(key: RunKey, after: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]>;
  /** The connection was lost for a while: all followers read the log again. */
  restored(): void;
  close(): void;
}

export interface LogFollowersOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly tail: Tail;
  readonly reader: LogReader;
  readonly clock: Clock;
  readonly leaseMs: number;
}

interface FollowedRun {
  readonly key: RunKey;
  readonly fence: string;
  readonly followers: Set<LogFollower>;
  readonly onRow: (row: TailRow) => void;
  check: unknown;
  /** The owner's lease holds at least until then. */
  aliveUntil: number;
  failures: number;
}

// A process that died is counted as a watcher for so long.
const watchMs = 60_000;

export function createLogFollowers(options: LogFollowersOptions): LogFollowers {
  const { connection, keys, tail, reader, clock, leaseMs } = options;
  const runs = new Map<string, FollowedRun>();
  const watching = createHeartbeat({
    clock,
    ms: watchMs / 3,
    isNeeded: () => runs.size > 0,
    beat() {
      for (const run of runs.values()) watch(run).catch(() => undefined);
    },
  });

  function join(key: RunKey, { fence, record, leaseLeft }: FoundRun): FollowedRun {
    const { log } = keys.run(key);
    const known = runs.get(log);
    if (known?.fence === fence) return known;
    const run: FollowedRun = {
      key,
      fence,
      followers: new Set(),
      onRow: (row) => onEntryRow(run, row),
      check: undefined,
      aliveUntil: clock.now() + leaseLeft,
      failures: 0,
    };
    // What has ended is read from the log alone.
    if (record.status !== "running") return run;
    // The run was replaced by another with the same id; followers of the old one find its log
    // deleted.
    if (known) drop(known);
    runs.set(log, run);
    tail.add(log, `${record.last}-0`, run.onRow);
    checkIn(run, leaseLeft + 1);
    return run;
  }

  function leave(run: FollowedRun, follower: LogFollower): void {
    run.followers.delete(follower);
    connection.call("ZREM", keys.run(run.key).watch, follower.id).catch(() => undefined);
    if (run.followers.size === 0) drop(run);
  }

  function drop(run: FollowedRun): void {
    const { log } = keys.run(run.key);
    clock.clearTimeout(run.check);
    tail.remove(log, run.onRow);
    if (runs.get(log) === run) runs.delete(log);
    for (const follower of run.followers) fallBehind(follower);
  }

  function onEntryRow(run: FollowedRun, { fields }: TailRow): void {
    if (fields.f !== run.fence) return drop(run);
    // An append renews a lease that has less than four fifths left.
    run.aliveUntil = clock.now() + leaseMs * 0.8;
    const json = fields.e ?? "[]";
    const entries = JSON.parse(json) as LogEntry[];
    for (const follower of run.followers) {
      follower.length += json.length;
      if (follower.length > queueLength) fallBehind(follower);
      else follower.queue.push({ entries, isEnd: fields.s !== undefined });
      follower.wake();
    }
  }

  // Once, when the lease can have run out; and again only if the owner has renewed it.
  function checkIn(run: FollowedRun, ms: number): void {
    clock.clearTimeout(run.check);
    run.check = clock.setTimeout(() => void check(run), ms);
  }

  async function check(run: FollowedRun): Promise<void> {
    const known = run.aliveUntil - clock.now();
    // More than a lease: a clock of the host's went back, and only Redis knows.
    if (known > 0 && known <= leaseMs) return checkIn(run, known + 1);
    try {
      const left = await reader.lose(run.key, run.fence);
      run.failures = 0;
      run.aliveUntil = clock.now() + left;
      if (run.followers.size === 0) return;
      if (left > 0) checkIn(run, left + 1);
      else for (const follower of run.followers) fallBehind(follower);
    } catch (error) {
      if (run.followers.size === 0) return;
      if (run.failures++ === 0) return checkIn(run, leaseMs / 3);
      for (const follower of run.followers) {
        follower.failed = error as AgentError;
        follower.wake();
      }
    }
  }

  function watch(run: FollowedRun): Promise<unknown> {
    const names = [...run.followers].map(({ id }) => id);
    const call = { keys: [keys.run(run.key).watch], args: [watchMs, ...names] };
    return connection.run(watchScript, call);
  }

  async function* follow(
    key: RunKey,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LogEntry[]> {
    const found = await reader.peek(key);
    if (!found || signal.aborted) return;
    const { principal, threadId, runId } = key;
    const run = join({ principal, threadId, runId }, found);
    const follower = createLogFollower();
    run.followers.add(follower);
    const onAbort = (): void => follower.wake();
    signal.addEventListener("abort", onAbort);
    watching.arm();
    try {
      // A full Redis takes no watcher, and can still be read.
      await watch(run).catch(() => undefined);
      yield* entriesOf({ run, follower, after, signal });
    } finally {
      signal.removeEventListener("abort", onAbort);
      leave(run, follower);
    }
  }

  async function* entriesOf(options: {
    run: FollowedRun;
    follower: LogFollower;
    after: number;
    signal: AbortSignal;
  }): AsyncGenerator<readonly LogEntry[]> {
    const { run, follower, signal } = options;
    let { after } = options;
    while (!signal.aborted) {
      if (follower.failed) throw follower.failed;
      if (follower.isBehind) {
        // What is queued from now on is kept until the log was read.
        emptyQueue(follower);
        const page = await reader.page(run.key, after, 256);
        if (page?.fence !== run.fence) return yield [lostEntry(after + 1, dateOf(clock))];
        if (page.entries.length > 0) {
          after = page.entries.at(-1)!.to;
          yield page.entries;
        }
        if (after < page.last) follower.isBehind = true;
        else if (page.status !== "running") return;
      } else if (follower.queue.length > 0) {
        const { queue } = follower;
        emptyQueue(follower);
        const entries = entriesAfter(
          queue.flatMap((batch) => batch.entries),
          after,
        );
        if (entries.length > 0 && entries[0]!.from > after + 1) follower.isBehind = true;
        else if (entries.length > 0) {
          after = entries.at(-1)!.to;
          yield entries;
        }
        if (queue.at(-1)!.isEnd && !follower.isBehind) return;
      } else {
        await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    }
  }

  return {
    follow,
    restored() {
      for (const run of runs.values()) {
        for (const follower of run.followers) fallBehind(follower);
        run.aliveUntil = 0;
        checkIn(run, 0);
      }
    },
    close() {
      watching.stop();
      for (const run of runs.values()) {
        for (const follower of run.followers) {
          follower.failed = storeClosed();
          follower.wake();
        }
        clock.clearTimeout(run.check);
      }
    },
  };
}
