import type { AgentError, Clock, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { createCommandInbox } from "../kit/command-inbox.ts";
import type { CommandInbox, CommandListener } from "../kit/command-inbox.ts";
import { createOwnLease } from "../kit/own-lease.ts";
import { runLost } from "../kit/store-errors.ts";
import type { RedisConnection } from "./client/connection.ts";
import { encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { renewScript } from "./scripts/owner-scripts.ts";
import { runScriptKeys } from "./scripts/prelude.ts";
import type { Tail, TailRow } from "./tail/tail.ts";

/** A run that this process owns. */
interface OwnedRun {
  readonly lease: Lease;
  /** Calls the listeners of the lease. */
  readonly lose: () => void;
  readonly inbox: CommandInbox;
  /** The ids of the commands that were delivered: one may be in the stream twice. */
  readonly seen: Set<string>;
  readonly onRow: (row: TailRow) => void;
  /** A write failed: until one succeeds the lease is left to run out. */
  isSuspended: boolean;
  /** A write was not answered: it may have landed. */
  isDoubtful: boolean;
}

export interface LeasesOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly tail: Tail;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long the keys of a run outlive its last renewal. */
  readonly keepMs: number;
  readonly ttlMs: number;
  /** Called on every renewal, for other data that must live as long. */
  readonly onRenew: (key: RunKey) => Promise<unknown>;
}

/** The leases of this process: one timer renews them all. */
export interface Leases {
  add(key: RunKey, fence: number): Lease;
  /** True once a write of it was not answered. */
  isDoubtful(lease: Lease): boolean;
  /** The outcome of a write. `silent`: unknown. */
  wrote(lease: Lease, result: "ok" | "refused" | "silent"): void;
  /** Another process has ended the run. */
  lose(lease: Lease): AgentError;
  release(lease: Lease): void;
  listen(lease: Lease, on: CommandListener): () => void;
  renew(): void;
  close(): void;
}

export function createLeases(options: LeasesOptions): Leases {
  const { connection, keys, tail, clock, leaseMs, keepMs, ttlMs, onRenew } = options;
  const owned = new Map<string, OwnedRun>();
  let timer: unknown;

  const find = (lease: Lease): OwnedRun | undefined => owned.get(idOf(lease));

  function arm(): void {
    if (owned.size === 0) return;
    timer ??= clock.setTimeout(() => {
      timer = undefined;
      renew();
      arm();
    }, leaseMs / 3);
  }

  function renew(): void {
    // All in one turn: the client sends them as one pipeline.
    for (const run of owned.values()) if (!run.isSuspended) void renewOne(run);
  }

  async function renewOne({ lease }: OwnedRun): Promise<void> {
    const scriptKeys = runScriptKeys(keys.thread(lease), keys.run(lease));
    const args = [encodePart(lease.runId), lease.fence, leaseMs, keepMs, ttlMs];
    try {
      const renewed = connection.run(renewScript, { keys: scriptKeys, args });
      const [answer] = await Promise.all([renewed, onRenew(lease)]);
      if (answer === "lost") lose(lease);
    } catch {
      // Redis is not reachable. The next renewal shows whether the run is still owned.
    }
  }

  function release(lease: Lease): void {
    const run = find(lease);
    if (!run) return;
    owned.delete(idOf(lease));
    tail.remove(keys.run(lease).commands, run.onRow);
  }

  function lose(lease: Lease): AgentError {
    const run = find(lease);
    release(lease);
    run?.lose();
    return runLost(lease.runId);
  }

  function onCommandRow(run: OwnedRun, { fields }: TailRow): void {
    const { f: fence, c: json = "", i: id = "" } = fields;
    // Of an earlier run of the same name.
    if (fence !== String(run.lease.fence) || run.seen.has(id)) return;
    if (json === "lost") return void lose(run.lease);
    run.seen.add(id);
    run.inbox.deliver(JSON.parse(json) as RunCommand);
  }

  return {
    add(key, fence) {
      const run: OwnedRun = {
        ...createOwnLease(key, fence),
        inbox: createCommandInbox(),
        seen: new Set(),
        onRow: (row) => onCommandRow(run, row),
        isSuspended: false,
        isDoubtful: false,
      };
      owned.set(idOf(run.lease), run);
      tail.add(keys.run(run.lease).commands, "0-0", run.onRow);
      arm();
      return run.lease;
    },
    isDoubtful: (lease) => find(lease)?.isDoubtful ?? false,
    wrote(lease, result) {
      const run = find(lease);
      if (!run) return;
      run.isSuspended = result !== "ok";
      run.isDoubtful = result === "silent";
    },
    lose,
    release,
    listen: (lease, on) => find(lease)?.inbox.listen(on) ?? (() => {}),
    renew,
    close() {
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
      for (const { lease } of owned.values()) lose(lease);
    },
  };
}

function idOf({ principal, runId, fence }: Lease): string {
  return JSON.stringify([principal, runId, fence]);
}
