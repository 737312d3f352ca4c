import type { Clock, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { beatsPerLease, createOwnedRuns } from "../kit/runs/owned-runs.ts";
import type { OwnedRuns } from "../kit/runs/owned-runs.ts";
import { createHeartbeat } from "../kit/storage/heartbeat.ts";
import type { Database } from "./database.ts";

// Other processes are noticed so often, and only while this one owns or follows a run.
const pollMs = 100;

interface CommandRow {
  readonly id: number;
  readonly fence: number;
  readonly value: string;
}

/** One reader that waits for more. */
interface Sleeper {
  wake(): void;
  /** When the owner of the run counts as dead unless it has renewed its lease. */
  expiresAt: number;
}

export interface Presence {
  /** The name of this process in the database. */
  readonly id: string;
  readonly closed: boolean;
  /** By their fences. */
  readonly owned: OwnedRuns<number>;
  own(key: RunKey, fence: number): Lease;
  watch(fence: number): () => void;
  watchers(fence: number): number;
  wait(fence: number, sleeper: Sleeper): () => void;
  wake(fences: Iterable<number>): void;
  close(): void;
}

/** The runs of this process, and how it is notified of runs in others. */
export function createPresence(
  db: Database,
  { clock, leaseMs, leaseNow }: { clock: Clock; leaseMs: number; leaseNow(): number },
): Presence {
  const id = crypto.randomUUID();
  const owned = createOwnedRuns({ idOf: ({ fence }: Lease) => fence });
  const watched = new Map<number, number>();
  const waiters = new Map<number, Set<Sleeper>>();
  let poll: NodeJS.Timeout | undefined;
  let version: number | undefined;
  let closed = false;

  const isBusy = (): boolean => !closed && (owned.size > 0 || watched.size > 0);

  const beats = { ms: leaseMs / beatsPerLease, isNeeded: isBusy, beat };
  const heartbeat = createHeartbeat({ clock, ...beats });

  function arm(): void {
    if (!isBusy()) return;
    heartbeat.arm();
    // Real time, independent of the clock: polling replaces a message from another process.
    poll ??= setTimeout(look, pollMs).unref();
  }

  function beat(): void {
    const expiresAt = leaseNow() + leaseMs;
    try {
      const gone = db.write(() => {
        for (const fence of watched.keys()) saveWatchers(fence, expiresAt);
        const renew = db.sql(
          "UPDATE runs SET expires_at = ? WHERE fence = ? AND status = 'running'",
        );
        return owned.ids().filter((fence) => Number(renew.run(expiresAt, fence).changes) === 0);
      });
      gone.forEach(owned.lose);
    } catch {
      // The next beat tries again; a lease that meanwhile ran out is noticed by the next append.
    }
  }

  function look(): void {
    poll = undefined;
    if (!isBusy()) {
      version = undefined;
      return;
    }
    arm();
    let commands: CommandRow[];
    let gone: number[];
    try {
      const now = db.sql("PRAGMA data_version").get() as { data_version: number };
      if (now.data_version === version) return wakeOverdue();
      commands = takeCommands();
      gone = closedByOthers();
      version = now.data_version;
    } catch {
      // Checked again soon; a read or append meanwhile gets the error.
      return;
    }
    for (const { fence, value } of commands) owned.deliver(fence, JSON.parse(value) as RunCommand);
    gone.forEach(owned.lose);
    for (const set of waiters.values()) for (const sleeper of set) sleeper.wake();
  }

  function wakeOverdue(): void {
    const now = leaseNow();
    for (const set of waiters.values()) {
      for (const sleeper of set) if (sleeper.expiresAt <= now) sleeper.wake();
    }
  }

  function takeCommands(): CommandRow[] {
    if (!db.sql("SELECT 1 FROM commands WHERE owner = ? LIMIT 1").get(id)) return [];
    const take = db.sql("DELETE FROM commands WHERE owner = ? RETURNING id, fence, value");
    const taken = db.write(() => take.all(id) as unknown as CommandRow[]);
    return taken.sort((a, b) => a.id - b.id);
  }

  function closedByOthers(): number[] {
    const running = db.sql("SELECT 1 FROM runs WHERE fence = ? AND status = 'running'");
    return owned.ids().filter((fence) => !running.get(fence));
  }

  function saveWatchers(fence: number, expiresAt: number): void {
    const count = watched.get(fence);
    if (count === undefined) {
      db.sql("DELETE FROM watchers WHERE fence = ? AND process = ?").run(fence, id);
      return;
    }
    // The run may have been deleted meanwhile.
    db.sql(
      `INSERT INTO watchers (fence, process, count, expires_at)
       SELECT fence, ?, ?, ? FROM runs WHERE fence = ?
       ON CONFLICT DO UPDATE SET count = excluded.count, expires_at = excluded.expires_at`,
    ).run(id, count, expiresAt, fence);
  }

  function count(fence: number, change: 1 | -1): void {
    const next = (watched.get(fence) ?? 0) + change;
    if (next === 0) watched.delete(fence);
    else watched.set(fence, next);
    if (closed) return;
    arm();
    try {
      db.write(() => saveWatchers(fence, leaseNow() + leaseMs));
    } catch {
      // The next beat writes it; a row that stays behind runs out by itself.
    }
  }

  return {
    id,
    get closed() {
      return closed;
    },
    owned,
    own(key, fence) {
      const lease = owned.add(key, fence);
      arm();
      return lease;
    },
    watch(fence) {
      count(fence, 1);
      return () => count(fence, -1);
    },
    watchers(fence) {
      const { others } = db
        .sql(
          `SELECT coalesce(sum(count), 0) AS others FROM watchers
           WHERE fence = ? AND process <> ? AND expires_at > ?`,
        )
        .get(fence, id, leaseNow()) as { others: number };
      return others + (watched.get(fence) ?? 0);
    },
    wait(fence, sleeper) {
      let set = waiters.get(fence);
      if (!set) waiters.set(fence, (set = new Set()));
      set.add(sleeper);
      return () => {
        set.delete(sleeper);
        if (set.size === 0 && waiters.get(fence) === set) waiters.delete(fence);
      };
    },
    wake(fences) {
      for (const fence of fences) for (const sleeper of waiters.get(fence) ?? []) sleeper.wake();
    },
    close() {
      closed = true;
      heartbeat.stop();
      clearTimeout(poll);
      try {
        db.write(() => {
          db.sql("DELETE FROM watchers WHERE process = ?").run(id);
          // The next process need not wait for the leases to expire.
          const release = db.sql("UPDATE runs SET expires_at = 0 WHERE fence = ?");
          for (const fence of owned.ids()) release.run(fence);
        });
      } catch {
        // Then they run out by themselves.
      }
      owned.ids().forEach(owned.lose);
      for (const set of waiters.values()) for (const sleeper of set) sleeper.wake();
    },
  };
}
