import type { Clock, Lease, RunCommand } from "@holodeck/agui-core";
import { beatsPerLease } from "../../kit/runs/owned-runs.ts";
import type { OwnedRuns } from "../../kit/runs/owned-runs.ts";
import { createHeartbeat } from "../../kit/storage/heartbeat.ts";
import type { ServerTime } from "../../kit/storage/server-time.ts";
import { toArrayText } from "../client/array-text.ts";
import type { Connection } from "../client/connection.ts";
import { watchMs } from "./followers.ts";
import type { LogFollowers } from "./followers.ts";
import type { Signals } from "./signals.ts";

/** Keeps the leases of this process, and looks for what concerns it. */
export interface Presence {
  /** There is something to own or to follow. */
  arm(): void;
  /** A run of this process has a command, or has ended elsewhere. */
  look(): void;
  /** This process has stopped to own the run. */
  forget(fence: number): void;
  close(): Promise<void>;
}

export interface PresenceOptions {
  readonly connection: Connection;
  readonly owned: OwnedRuns<number>;
  readonly followers: () => LogFollowers;
  readonly signals: () => Signals;
  readonly clock: Clock;
  readonly time: ServerTime;
  readonly leaseMs: number;
  readonly process: string;
}

interface Seen {
  /** The time of the server. */
  readonly now: number;
  readonly lost: readonly number[];
  readonly commands: readonly (readonly [fence: number, number: number, value: string])[];
  readonly lasts: readonly (readonly [fence: number, last: number | null])[];
}

// Where notifications do not arrive, other processes are noticed so often; where they do, one that was lost.
const pollMs = 100;
const slowPollMs = 500;

export function createPresence(options: PresenceOptions): Presence {
  const { connection, owned, followers, signals, clock, time, leaseMs, process } = options;
  // The number of the last command of each run that was delivered.
  const seen = new Map<number, number>();
  let pollTimer: unknown;
  let isClosed = false;
  let isLooking = false;
  let isWanted = false;

  const isBusy = (): boolean => !isClosed && (owned.size > 0 || followers().list().length > 0);

  const beats = { ms: leaseMs / beatsPerLease, isNeeded: isBusy, beat };
  const heartbeat = createHeartbeat({ clock, ...beats });

  function arm(): void {
    if (!isBusy()) return;
    signals().start();
    heartbeat.arm();
    pollTimer ??= clock.setTimeout(poll, signals().isListening ? slowPollMs : pollMs);
  }

  function beat(): void {
    const leases = owned.beat();
    if (!isBusy()) return;
    signals().check();
    void seek(leases, leaseMs);
  }

  function poll(): void {
    pollTimer = undefined;
    if (isBusy()) void look().then(arm);
  }

  async function look(): Promise<void> {
    isWanted = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isWanted) {
        isWanted = false;
        await seek(owned.active(), 0);
      }
    } finally {
      isLooking = false;
    }
  }

  async function seek(leases: readonly Lease[], renewMs: number): Promise<void> {
    const fences = leases.map(({ fence }) => fence);
    const numbers = fences.map((fence) => seen.get(fence) ?? 0);
    const lists = [fences, numbers, followers().list()].map(toArrayText);
    let found: Seen;
    try {
      found = JSON.parse((await connection.one("look", process, renewMs, watchMs, ...lists))!);
    } catch {
      // The next look tries again; a lease that meanwhile ran out is noticed by the next append.
      return;
    }
    if (isClosed) return;
    time.sample(found.now);
    found.lost.forEach(owned.ended);
    for (const [fence, number, value] of found.commands) {
      // Two looks may find the same one.
      if (!owned.has(fence) || number <= (seen.get(fence) ?? 0)) continue;
      seen.set(fence, number);
      owned.deliver(fence, JSON.parse(value) as RunCommand);
    }
    for (const [fence, last] of found.lasts) followers().moved(fence, last ?? undefined);
  }

  return {
    arm,
    look: () => void look(),
    forget: (fence) => void seen.delete(fence),
    async close() {
      isClosed = true;
      heartbeat.stop();
      clock.clearTimeout(pollTimer);
      const fences = owned.active().map(({ fence }) => fence);
      owned.ids().forEach(owned.lose);
      // If this fails, leases and watchers run out by themselves.
      await connection.one("leave", process, toArrayText(fences)).catch(() => undefined);
    },
  };
}
