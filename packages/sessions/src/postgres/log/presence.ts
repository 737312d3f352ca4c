import type { Clock, RunCommand } from "@holodeck/agui-core";
import { toArrayText } from "../client/array-text.ts";
import type { Connection } from "../client/connection.ts";
import { watchMs } from "./followers.ts";
import type { LogFollowers } from "./followers.ts";
import type { OwnedRuns } from "./owned-runs.ts";
import type { Signals } from "./signals.ts";

/** Keeps the leases of this process, and looks for what concerns it. */
export interface Presence {
  /** There is something to own or to follow. */
  arm(): void;
  /** A run of this process has a command, or has ended elsewhere. */
  look(): void;
  close(): Promise<void>;
}

export interface PresenceOptions {
  readonly connection: Connection;
  readonly owned: OwnedRuns;
  readonly followers: () => LogFollowers;
  readonly signals: () => Signals;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly process: string;
}

interface Seen {
  readonly lost: readonly number[];
  readonly commands: readonly (readonly [fence: number, number: number, value: string])[];
  readonly lasts: readonly (readonly [fence: number, last: number | null])[];
}

// Where notifications do not arrive, other processes are noticed so often; where they do, one that was lost.
const pollMs = 100;
const beatsPerLease = 3;
const slowPollMs = 500;

export function createPresence(options: PresenceOptions): Presence {
  const { connection, owned, followers, signals, clock, leaseMs, process } = options;
  let beatTimer: unknown;
  let pollTimer: unknown;
  let isClosed = false;
  let isLooking = false;
  let isWanted = false;

  const isBusy = (): boolean => !isClosed && (owned.size > 0 || followers().list().length > 0);

  function arm(): void {
    if (!isBusy()) return;
    signals().start();
    beatTimer ??= clock.setTimeout(beat, leaseMs / beatsPerLease);
    pollTimer ??= clock.setTimeout(poll, signals().isListening ? slowPollMs : pollMs);
  }

  function beat(): void {
    beatTimer = undefined;
    owned.beat(beatsPerLease);
    if (!isBusy()) return;
    arm();
    signals().check();
    void seek(leaseMs);
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
        await seek(0);
      }
    } finally {
      isLooking = false;
    }
  }

  async function seek(renewMs: number): Promise<void> {
    const { fences, seen } = owned.list();
    const lists = [fences, seen, followers().list()].map(toArrayText);
    let found: Seen;
    try {
      found = JSON.parse((await connection.one("look", process, renewMs, watchMs, ...lists))!);
    } catch {
      // The next look tries again; a lease that meanwhile ran out is noticed by the next append.
      return;
    }
    if (isClosed) return;
    found.lost.forEach(owned.ended);
    for (const [fence, number, value] of found.commands) {
      owned.deliver(fence, number, JSON.parse(value) as RunCommand);
    }
    for (const [fence, last] of found.lasts) followers().moved(fence, last ?? undefined);
  }

  return {
    arm,
    look: () => void look(),
    async close() {
      isClosed = true;
      clock.clearTimeout(beatTimer);
      clock.clearTimeout(pollTimer);
      const { fences } = owned.list();
      fences.forEach(owned.lose);
      // If this fails, leases and watchers run out by themselves.
      await connection.one("leave", process, toArrayText(fences)).catch(() => undefined);
    },
  };
}
