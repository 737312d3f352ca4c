import { isAgentError, ulid } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Clock, LogEntry, RunKey } from "@holodeck/agui-core";
import { lostEntry } from "../../kit/runs/lost-run.ts";
import { readableAfter } from "../../kit/runs/run-record.ts";
import { wakened } from "../../kit/runs/waiting.ts";
import { storeClosed } from "../../kit/storage/store-errors.ts";
import type { Connection } from "../client/connection.ts";
import type { LogPage, LogReader } from "./reader.ts";

/** Live tails of runs. */
export interface LogFollowers {
  /** The fences of the runs that are followed here. */
  list(): number[];
  follow(key: RunKey, after: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]>;
  /** A run has entries up to an offset; without one it has changed in a way that a look will show. */
  moved(fence: number, last?: number): void;
  /** Notifications may have been missed: everything is read again. */
  wakeAll(): void;
  close(): void;
}

export interface LogFollowersOptions {
  readonly connection: Connection;
  readonly reader: LogReader;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly process: string;
  /** Called before a run is followed: from then on `moved` is called. */
  readonly onStart: () => void;
}

interface FollowedRun {
  followers: number;
  /** The last offset that was announced. */
  last: number;
  /** Counts what has happened, for a follower that was busy meanwhile. */
  changes: number;
  readonly waiting: Set<() => void>;
}

// A process that died is counted as a watcher for so long.
export const watchMs = 60_000;
const pageSize = 256;

export function createLogFollowers(options: LogFollowersOptions): LogFollowers {
  const { connection, reader, clock, leaseMs, process, onStart } = options;
  const runs = new Map<number, FollowedRun>();
  const pages = new Map<string, Promise<LogPage | undefined>>();
  let isClosed = false;

  function join(fence: number): FollowedRun {
    const run = runs.get(fence) ?? { followers: 0, last: 0, changes: 0, waiting: new Set() };
    runs.set(fence, run);
    run.followers++;
    onStart();
    return run;
  }

  function leave(fence: number, run: FollowedRun, follower: string): void {
    if (--run.followers === 0) runs.delete(fence);
    if (!isClosed) connection.one("unwatch", fence, follower).catch(() => undefined);
  }

  function wake(run: FollowedRun): void {
    run.changes++;
    for (const resolve of run.waiting) resolve();
  }

  /**
   * Followers at the same place share what is read, unless the run has changed since: what was asked for before may
   * lack what a follower has been woken for, and nothing would wake it again.
   */
  function pageAfter(fence: number, after: number, changes: number): Promise<LogPage | undefined> {
    const name = `${fence} ${after} ${changes}`;
    let page = pages.get(name);
    if (!page) {
      page = reader.page(fence, after, pageSize);
      pages.set(name, page);
      const done = (): void => void pages.delete(name);
      page.then(done, done);
    }
    return page;
  }

  /** Waits for a change, or until the lease of the owner can have run out. */
  function change(run: FollowedRun, ms: number, signal: AbortSignal): Promise<void> {
    return wakened(signal, (wake) => {
      const timer = clock.setTimeout(wake, ms);
      run.waiting.add(wake);
      return () => {
        clock.clearTimeout(timer);
        run.waiting.delete(wake);
      };
    });
  }

  /** By the clock of the server, whose date may have been set. */
  function untilNextLook(left: number): number {
    return left > 0 ? Math.min(left, leaseMs) + 1 : leaseMs / 10;
  }

  async function* entriesOf(
    { fence, runId, run }: { fence: number; runId: string; run: FollowedRun },
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LogEntry[]> {
    let at = after;
    let failures = 0;
    while (!signal.aborted) {
      if (isClosed) throw storeClosed();
      const { changes } = run;
      let page: LogPage | undefined;
      try {
        page = await pageAfter(fence, at, changes);
        failures = 0;
      } catch (error) {
        // A database that comes back within a lease is not noticed.
        const isAway = isAgentError(error) && error.code === "store-unavailable";
        if (!isAway || failures++ > 0 || isClosed) throw error;
        await change(run, leaseMs / 3, signal);
        continue;
      }
      if (signal.aborted) return;
      if (!page) return yield [lostEntry(at + 1, dateOf(clock))];
      const entries = readableAfter(runId, page, at);
      if (entries.length > 0) {
        at = entries.at(-1)!.to;
        yield entries;
      }
      if (at < page.last) continue;
      if (page.status !== "running") return;
      if (run.changes === changes) await change(run, untilNextLook(page.left), signal);
    }
  }

  return {
    list: () => [...runs.keys()],
    async *follow(key, after, signal) {
      if (signal.aborted) return;
      const follower = ulid();
      const answer = await reader.watch(key, { follower, process, watchMs });
      if (answer === undefined) return;
      const run = join(answer);
      try {
        yield* entriesOf({ fence: answer, runId: key.runId, run }, after, signal);
      } finally {
        leave(answer, run, follower);
      }
    },
    moved(fence, last) {
      const run = runs.get(fence);
      if (!run || last === run.last) return;
      run.last = last ?? run.last;
      wake(run);
    },
    wakeAll() {
      for (const run of runs.values()) wake(run);
    },
    close() {
      isClosed = true;
      for (const run of runs.values()) wake(run);
    },
  };
}
