import type { AgentError, Clock, Lease, RunCommand, RunKey } from "@holodeck/agui-core";
import { beatsPerLease, createOwnedRuns } from "../kit/runs/owned-runs.ts";
import type { OwnedRuns } from "../kit/runs/owned-runs.ts";
import { createHeartbeat } from "../kit/storage/heartbeat.ts";
import type { ServerTime } from "../kit/storage/server-time.ts";
import type { RedisConnection } from "./client/connection.ts";
import { encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import { renewScript } from "./scripts/owner-scripts.ts";
import { runScriptKeys } from "./scripts/prelude.ts";
import type { Tail, TailRow } from "./tail/tail.ts";

export interface LeasesOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly tail: Tail;
  readonly clock: Clock;
  readonly time: ServerTime;
  readonly leaseMs: number;
  /** How long the keys of a run outlive its last renewal. */
  readonly keepMs: number;
  readonly ttlMs: number;
  /** Called on every renewal, for other data that must live as long. */
  readonly onRenew: (key: RunKey) => Promise<unknown>;
}

/** The leases of this process: one timer renews them all. */
export interface Leases extends Pick<
  OwnedRuns<string>,
  "isDoubtful" | "wrote" | "closing" | "listen"
> {
  add(key: RunKey, fence: number): Lease;
  /** Another process has ended the run. */
  lost(lease: Lease): AgentError;
  release(lease: Lease): void;
  renew(): void;
  close(): void;
}

export function createLeases(options: LeasesOptions): Leases {
  const { connection, keys, tail, clock, time, leaseMs, keepMs, ttlMs, onRenew } = options;
  // What reads the commands of each run.
  const readers = new Map<string, (row: TailRow) => void>();
  const owned = createOwnedRuns({
    idOf,
    onGone(lease) {
      const id = idOf(lease);
      tail.remove(keys.run(lease).commands, readers.get(id)!);
      readers.delete(id);
    },
  });
  const heartbeat = createHeartbeat({
    clock,
    ms: leaseMs / beatsPerLease,
    isNeeded: () => owned.size > 0,
    beat: () => renewAll(owned.beat()),
  });

  // All in one turn: the client sends them as one pipeline.
  function renewAll(leases: readonly Lease[]): void {
    for (const lease of leases) void renewOne(lease);
  }

  async function renewOne(lease: Lease): Promise<void> {
    const scriptKeys = runScriptKeys(keys.thread(lease), keys.run(lease));
    const args = [encodePart(lease.runId), lease.fence, leaseMs, keepMs, ttlMs];
    try {
      const renewed = connection.run(renewScript, { keys: scriptKeys, args });
      const [answer] = await Promise.all([renewed, onRenew(lease)]);
      if (answer === "lost") owned.ended(idOf(lease));
      else time.sample(Number(answer));
    } catch {
      // Redis is not reachable. The next renewal shows whether the run is still owned.
    }
  }

  /** Reads the commands of a run; one may be in the stream twice. */
  function createReader(lease: Lease): (row: TailRow) => void {
    const seen = new Set<string>();
    return ({ fields }) => {
      const { f: fence, c: json = "", i: id = "" } = fields;
      // Of an earlier run of the same name.
      if (fence !== String(lease.fence) || seen.has(id)) return;
      if (json === "lost") return owned.ended(idOf(lease));
      seen.add(id);
      owned.deliver(idOf(lease), JSON.parse(json) as RunCommand);
    };
  }

  return {
    ...owned,
    add(key, fence) {
      const lease = owned.add(key, fence);
      const reader = createReader(lease);
      readers.set(idOf(lease), reader);
      tail.add(keys.run(lease).commands, "0-0", reader);
      heartbeat.arm();
      return lease;
    },
    release: (lease) => owned.release(idOf(lease)),
    renew: () => renewAll(owned.active()),
    close() {
      heartbeat.stop();
      owned.ids().forEach(owned.lose);
    },
  };
}

// In a cluster two servers may give the same fence.
function idOf({ principal, runId, fence }: Lease): string {
  return JSON.stringify([principal, runId, fence]);
}
