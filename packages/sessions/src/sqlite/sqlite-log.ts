import { isAgentError } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type {
  Clock,
  Lease,
  LogEntry,
  RunCommand,
  RunKey,
  RunLog,
  ThreadKey,
} from "@holodeck/agui-core";
import { isUsedRun, lostEntry } from "../kit/runs/lost-run.ts";
import { toEntryBatch } from "../kit/runs/entry-rows.ts";
import { readableAfter } from "../kit/runs/run-record.ts";
import { wakened } from "../kit/runs/waiting.ts";
import { runLost, runNotFound, storeClosed } from "../kit/storage/store-errors.ts";
import type { Database } from "./database.ts";
import { createGroupCommit, commitRefusal } from "./group-commit.ts";
import { fromText } from "../kit/storage/key-text.ts";
import { createLeaseTime, isHeld } from "./lease-time.ts";
import { createPresence } from "./presence.ts";
import { createRunRows, keyOf, recordOf } from "./run-rows.ts";
import type { RunRow } from "./run-rows.ts";

export interface SqliteLogOptions {
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  /** How long a lease and a watcher live without a sign of life; there is one every third of it. */
  readonly leaseMs: number;
  readonly clock: Clock;
}

export interface SqliteLog extends RunLog {
  /** The time of leases. */
  leaseNow(): number;
  /**
   * Inside a transaction. Throws `run-lost` unless the run of this lease is active and its lease
   * valid.
   */
  assertHeld(lease: Lease): void;
  /** Inside a transaction. Returns the fences of the runs that are gone. */
  deleteThread(key: ThreadKey): number[];
  /** After that transaction: notifies owners and followers in this process. */
  forget(fences: readonly number[]): void;
  /** Removes logs whose time is over. True when there is more to do. */
  sweep(): boolean;
  /** Commits what waits and gives up every lease. */
  dispose(): void;
}

const followLimit = 256;
// Removing a log touches all of its pages; more than this at once would be felt.
const sweepLimit = 20;

/** Run logs in an open database. Only `append` and `follow` ever wait. */
export function createSqliteLog(db: Database, options: SqliteLogOptions): SqliteLog {
  const { clock, runLogMs, leaseMs } = options;
  const rows = createRunRows(db, options);
  const leaseNow = createLeaseTime(db, clock);
  const presence = createPresence(db, { clock, leaseMs, leaseNow });
  const expiresAt = (): number => leaseNow() + leaseMs;
  const commits = createGroupCommit(db, rows, {
    expiresAt,
    written: (fence) => presence.wake([fence]),
    lost: presence.owned.lose,
  });

  function isDead(row: RunRow): boolean {
    if (row.status !== "running" || isHeld(row, leaseNow())) return false;
    return !presence.owned.has(row.fence);
  }

  /** The row, after a run whose owner has died was closed. */
  function settled(find: () => RunRow | undefined): RunRow | undefined {
    const row = db.read(find);
    if (!row || !isDead(row)) return row && isGone(row) ? undefined : row;
    const closed = db.write(() => {
      settle(find(), []);
      return find();
    });
    presence.wake([row.fence]);
    return closed;
  }

  /** Inside a transaction: the row, closed if its owner has died. */
  function settle(row: RunRow | undefined, ended: number[]): RunRow | undefined {
    if (!row || !isDead(row)) return row;
    closeLost(row);
    ended.push(row.fence);
    return rows.byFence(row.fence);
  }

  function isUsed(row: RunRow): boolean {
    return isUsedRun(row) && !isGone(row);
  }

  function isGone({ ended_at }: RunRow): boolean {
    return ended_at !== null && ended_at <= dateOf(clock) - runLogMs;
  }

  function closeLost(row: RunRow): void {
    const run = { ...keyOf(row), fence: row.fence };
    const batch = toEntryBatch(run.runId, [lostEntry(row.last + 1, dateOf(clock))]);
    rows.append(run, batch, row.expires_at);
    rows.end(row.fence, "lost", dateOf(clock));
  }

  function ofKey(key: RunKey): RunRow | undefined {
    const row = settled(() => rows.byRun(key.principal, key.runId));
    return row && fromText(row.thread_id) === key.threadId ? row : undefined;
  }

  function slice(row: RunRow, after: number, limit: number): readonly LogEntry[] {
    const { first, last } = row;
    const entries = rows.entries(row.fence, after, limit);
    return readableAfter(fromText(row.run_id), { first, last, entries }, after);
  }

  function send(key: RunKey, command: RunCommand): boolean {
    const row = ofKey(key);
    if (row?.status !== "running") return false;
    if (presence.owned.has(row.fence)) {
      presence.owned.deliver(row.fence, command);
      return true;
    }
    return db.write(() => {
      if (rows.byFence(row.fence)?.status !== "running") return false;
      db.sql("INSERT INTO commands (fence, owner, value) VALUES (?, ?, ?)").run(
        row.fence,
        row.owner,
        JSON.stringify(command),
      );
      return true;
    });
  }

  return {
    leaseNow,
    open(key, init) {
      const ended: number[] = [];
      const found = db.write(() => {
        const old = settle(rows.byRun(key.principal, key.runId), ended);
        if (old && isUsed(old)) return { busy: recordOf(old) };
        const holder = settle(rows.byThread(key), ended);
        if (holder?.status === "running") return { busy: recordOf(holder) };
        if (old) {
          rows.remove(old.fence);
          ended.push(old.fence);
        }
        return rows.insert(key, { ...init, owner: presence.id, expiresAt: expiresAt(), leaseMs });
      });
      presence.wake(ended);
      return typeof found === "number" ? presence.own(key, found) : found;
    },
    append(lease, entries) {
      if (entries.length > 0) return commits.append(lease, entries);
    },
    close(lease, terminal, status) {
      commits.flush();
      try {
        db.write(() => {
          if (!rows.append(lease, toEntryBatch(lease.runId, [terminal]), expiresAt())) {
            throw commitRefusal(rows, lease, terminal.from);
          }
          rows.end(lease.fence, status, dateOf(clock));
        });
      } catch (error) {
        const code = isAgentError(error) ? error.code : undefined;
        if (code === "run-lost") presence.owned.lose(lease.fence);
        // An owner whose end cannot be stored is done all the same: its lease must run out.
        else if (code !== "internal") presence.owned.release(lease.fence);
        throw error;
      }
      presence.owned.release(lease.fence);
      presence.wake([lease.fence]);
    },
    find(principal, runId) {
      const row = settled(() => rows.byRun(principal, runId));
      return row && recordOf(row);
    },
    active(key) {
      // Reading a dead holder closes it, so it is not found afterwards.
      const row = settled(() => rows.byThread(key));
      return row && recordOf(row);
    },
    read(key, after, limit = Number.POSITIVE_INFINITY) {
      const row = ofKey(key);
      if (!row) throw runNotFound(key.runId);
      // Row and entries of one moment: the head may be trimmed by another process.
      return db.read(() => slice(rows.byFence(row.fence) ?? row, after, limit));
    },
    async *follow(key, after, signal) {
      const start = ofKey(key);
      if (!start || signal.aborted) return;
      const { fence } = start;
      const unwatch = presence.watch(fence);
      try {
        let at = after;
        while (!signal.aborted) {
          if (presence.closed) throw storeClosed();
          if (!settled(() => rows.byFence(fence))) return;
          const { row, entries } = db.read(() => {
            const row = rows.byFence(fence);
            return { row, entries: row ? slice(row, at, followLimit) : [] };
          });
          if (entries.length > 0) {
            at = entries.at(-1)!.to;
            yield entries;
          } else if (row?.status === "running") {
            await wakened(signal, (wake) =>
              presence.wait(fence, { wake, expiresAt: row.expires_at }),
            );
          } else {
            return;
          }
        }
      } finally {
        unwatch();
      }
    },
    watchers(key) {
      const row = ofKey(key);
      return row ? db.read(() => presence.watchers(row.fence)) : 0;
    },
    send,
    requestStop: (key) => send(key, { type: "stop" }),
    commands: presence.owned.listen,
    assertHeld({ fence, principal, runId }) {
      const row = rows.byFence(fence);
      const isOurs =
        row?.status === "running" &&
        isHeld(row, leaseNow()) &&
        fromText(row.principal) === principal &&
        fromText(row.run_id) === runId;
      if (!isOurs) throw runLost(runId);
    },
    deleteThread: (key) => rows.removeThread(key),
    forget(fences) {
      fences.forEach(presence.owned.lose);
      presence.wake(fences);
    },
    sweep() {
      return db.write(() => {
        db.sql("DELETE FROM watchers WHERE expires_at <= ?").run(leaseNow());
        return rows.removeEnded(dateOf(clock) - runLogMs, sweepLimit) === sweepLimit;
      });
    },
    dispose() {
      commits.flush();
      presence.close();
    },
  };
}
