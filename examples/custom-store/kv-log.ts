import { cutAfter, isAgentError } from "@holodeck/agui-core";
import type { Clock, Lease, LogEntry, RunCommand, RunKey, RunLog } from "@holodeck/agui-core";
import {
  addEntry,
  assertFollows,
  isUsedRun,
  lostEntry,
  replayGone,
  runLost,
  runNotFound,
} from "@holodeck/agui-sessions/kit";
import type { KeyValue } from "./key-value.ts";
import { createPresence } from "./presence.ts";
import type { StoredRun, ThreadDocument, Threads } from "./threads.ts";

export interface KvLogOptions {
  readonly clock: Clock;
  /** How long the owner of a run may be silent before the run counts as lost. */
  readonly leaseMs: number;
  /** How long a log is kept after the end of its run. */
  readonly runLogMs: number;
  /** Entries and bytes kept of one run; the oldest are removed. */
  readonly runLogEvents: number;
  readonly runLogBytes: number;
}

export interface KvLog extends RunLog {
  /** Throws `run-lost` unless the run of this lease goes on. */
  assertHeld(document: ThreadDocument, lease: Lease): void;
  /** Removes runs whose logs have been kept long enough, and ends the one whose owner is gone. */
  settle(document: ThreadDocument): void;
  dispose(): void;
}

/** Where the run of an id is. It is written before the run, so that two threads cannot both begin it. */
interface RunPlace {
  readonly threadId: string;
  readonly fence: number;
}

export function createKvLog(kv: KeyValue, threads: Threads, options: KvLogOptions): KvLog {
  const { clock, leaseMs, runLogMs, runLogEvents, runLogBytes } = options;
  const presence = createPresence(look, { clock, pollMs: leaseMs / 10 });

  const placeName = (principal: string, runId: string): string =>
    `run/${encodeURIComponent(principal)}/${encodeURIComponent(runId)}`;

  function settle(document: ThreadDocument): void {
    const now = clock.now();
    document.runs = document.runs.filter(
      ({ endedAt }) => endedAt === undefined || endedAt > now - runLogMs,
    );
    const run = document.runs.at(-1);
    if (run?.record.status === "running" && run.expiresAt <= now) endLost(run, now);
  }

  function endLost(run: StoredRun, at: number): void {
    write(run, [lostEntry(run.record.last + 1, at)]);
    end(run, "lost");
  }

  function write(run: StoredRun, entries: readonly LogEntry[]): void {
    assertFollows(run.record.runId, run.record.last, entries);
    for (const entry of entries) addEntry(run.entries, entry);
    const last = entries.at(-1)?.to ?? run.record.last;
    trim(run);
    run.record = { ...run.record, first: run.entries[0]?.from ?? last + 1, last };
  }

  function trim({ entries }: StoredRun): void {
    const bytesOf = (entry: LogEntry): number => JSON.stringify(entry).length;
    let bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    while (entries.length > 1 && (entries.length > runLogEvents || bytes > runLogBytes)) {
      bytes -= bytesOf(entries.shift()!);
    }
  }

  function end(run: StoredRun, status: StoredRun["record"]["status"]): void {
    run.record = { ...run.record, status };
    run.endedAt = clock.now();
    run.commands = [];
  }

  function assertHeld(document: ThreadDocument, lease: Lease): StoredRun {
    const run = document.runs.find(({ fence }) => fence === lease.fence);
    if (run?.record.status === "running" && run.expiresAt > clock.now()) return run;
    presence.disown(lease.fence, true);
    throw runLost(lease.runId);
  }

  function doubt({ fence }: Lease, error: unknown): void {
    const run = presence.owned.get(fence);
    if (run && isAgentError(error) && error.code === "store-unavailable") run.isDoubtful = true;
  }

  /** The run of a key, after a dead owner's was ended and old logs were removed. */
  async function find(key: RunKey): Promise<StoredRun | undefined> {
    const document = await threads.change(key, (draft) => {
      settle(draft);
      return draft;
    });
    return document.runs.find(({ record }) => record.runId === key.runId);
  }

  async function findById(principal: string, runId: string): Promise<StoredRun | undefined> {
    const place = await kv.get<RunPlace>(placeName(principal, runId));
    return place && find({ principal, threadId: place.value.threadId, runId });
  }

  async function claimPlace(key: RunKey, fence: number): Promise<StoredRun | undefined> {
    const name = placeName(key.principal, key.runId);
    for (;;) {
      const place = await kv.get<RunPlace>(name);
      const other = place && (await find({ ...key, threadId: place.value.threadId }));
      if (other && isUsedRun(other.record)) return other;
      if (!(await kv.set(name, { threadId: key.threadId, fence }, place?.version))) continue;
      if (other && place.value.threadId !== key.threadId) {
        await threads.change({ ...key, threadId: place.value.threadId }, (document) => {
          document.runs = document.runs.filter(({ record }) => record.runId !== key.runId);
        });
      }
      return undefined;
    }
  }

  async function nextFence(): Promise<number> {
    for (;;) {
      const stored = await kv.get<number>("fence");
      const fence = (stored?.value ?? 0) + 1;
      if (await kv.set("fence", fence, stored?.version)) return fence;
    }
  }

  async function send(key: RunKey, command: RunCommand): Promise<boolean> {
    const isSent = await threads.change(key, (document) => {
      settle(document);
      const run = document.runs.find(({ record }) => record.runId === key.runId);
      if (run?.record.status !== "running") return false;
      run.commands.push(command);
      return true;
    });
    if (isSent) await look();
    return isSent;
  }

  /** Renews the leases of this process, and takes the commands for its runs. */
  async function look(): Promise<void> {
    for (const { lease, listeners } of presence.owned.values()) {
      const commands = await threads.change(lease, (document) => {
        const run = document.runs.find(({ fence }) => fence === lease.fence);
        if (run?.record.status !== "running" || run.expiresAt <= clock.now()) return undefined;
        // A third of it has passed: not at each look.
        if (run.expiresAt - clock.now() < (leaseMs * 2) / 3) run.expiresAt = clock.now() + leaseMs;
        return listeners.size === 0 ? [] : run.commands.splice(0);
      });
      if (commands === undefined) presence.disown(lease.fence, true);
      for (const command of commands ?? []) for (const on of listeners) on(command);
    }
  }

  async function watch(key: RunKey, step: 1 | -1): Promise<void> {
    await threads.change(key, (document) => {
      const run = document.runs.find(({ record }) => record.runId === key.runId);
      if (!run) return;
      const count = (run.watchers[presence.id]?.count ?? 0) + step;
      if (count > 0) run.watchers[presence.id] = { count, until: clock.now() + leaseMs };
      else delete run.watchers[presence.id];
    });
  }

  async function renewWatch(key: RunKey): Promise<void> {
    await threads.change(key, (document) => {
      const run = document.runs.find(({ record }) => record.runId === key.runId);
      const mine = run?.watchers[presence.id];
      if (mine && mine.until - clock.now() < leaseMs / 2) mine.until = clock.now() + leaseMs;
    });
  }

  return {
    settle,
    assertHeld,
    async open(key, { agentId, protocolVersion }) {
      const fence = await nextFence();
      const used = await claimPlace(key, fence);
      if (used) return { busy: used.record };
      const { principal, threadId, runId } = key;
      const busy = await threads.change(key, (document) => {
        settle(document);
        const holder = document.runs.at(-1);
        if (holder?.record.status === "running") return holder.record;
        document.runs = document.runs.filter(({ record }) => record.runId !== runId);
        const about = { principal, threadId, runId, agentId, protocolVersion };
        document.runs.push({
          record: { ...about, format: 1, status: "running", first: 1, last: 0 },
          fence,
          expiresAt: clock.now() + leaseMs,
          entries: [],
          commands: [],
          watchers: {},
        });
        return undefined;
      });
      return busy ? { busy } : presence.own(key, fence);
    },
    async append(lease, entries) {
      try {
        await threads.change(lease, (document) => write(assertHeld(document, lease), entries));
      } catch (error) {
        doubt(lease, error);
        throw error;
      }
      presence.wake();
    },
    async close(lease, terminal, status) {
      const { isDoubtful } = presence.owned.get(lease.fence) ?? {};
      try {
        await threads.change(lease, (document) => {
          const run = assertHeld(document, lease);
          // After a write without an answer only the database knows the next offset.
          const offset = isDoubtful ? run.record.last + 1 : terminal.from;
          write(run, [{ ...terminal, from: offset, to: offset }]);
          end(run, status);
        });
      } catch (error) {
        // An owner whose end was not stored is done all the same: its lease runs out.
        if (!isAgentError(error) || error.code !== "internal") presence.disown(lease.fence, false);
        throw error;
      }
      presence.disown(lease.fence, false);
      presence.wake();
    },
    find: async (principal, runId) => (await findById(principal, runId))?.record,
    async active(key) {
      const run = await threads.change(key, (document) => {
        settle(document);
        return document.runs.at(-1);
      });
      return run?.record.status === "running" ? run.record : undefined;
    },
    async read(key, after, limit = Number.POSITIVE_INFINITY) {
      const run = await find(key);
      if (!run) throw runNotFound(key.runId);
      return slice(run, after, limit);
    },
    async *follow(key, after, signal) {
      await watch(key, 1);
      try {
        let at = after;
        while (!signal.aborted && !presence.isClosed) {
          const run = await find(key);
          if (!run) return;
          const entries = slice(run, at, 256);
          if (entries.length > 0) {
            at = entries.at(-1)!.to;
            yield entries;
          } else if (run.record.status === "running") {
            await presence.wait(signal);
            await renewWatch(key);
          } else return;
        }
      } finally {
        await watch(key, -1);
      }
    },
    async watchers(key) {
      const watchers = Object.values((await find(key))?.watchers ?? {});
      return watchers.reduce((sum, { count, until }) => sum + (until > clock.now() ? count : 0), 0);
    },
    send,
    requestStop: (key) => send(key, { type: "stop" }),
    commands(lease, on) {
      const run = presence.owned.get(lease.fence);
      run?.listeners.add(on);
      look().catch(() => undefined);
      return () => void run?.listeners.delete(on);
    },
    dispose: () => presence.close(),
  };
}

function slice({ record, entries }: StoredRun, after: number, limit: number): LogEntry[] {
  if (after < record.first - 1) {
    throw replayGone(record.runId, record.first, after);
  }
  const rest = entries.filter(({ to }) => to > after);
  return rest.slice(0, limit).map((entry) => cutAfter(entry, after));
}
