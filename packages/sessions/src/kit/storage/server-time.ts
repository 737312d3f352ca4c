import { systemClock } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";

/**
 * The time that the clock of a database server should show. Leases end at a time of that clock, and its date may be
 * set: a process that knows the server compares what it shows with how long ago it showed something else.
 */
export interface ServerTime {
  /** The server shows this time. */
  sample(server: number): void;
  /** Undefined before the first sample. */
  expected(): number | undefined;
}

// An answer may be so late, and clocks are corrected by so much.
const toleranceMs = 1_000;

/** After a jump the old time is expected for as long as a lease lasts: until then every owner has renewed its own. */
export function createServerTime(leaseMs: number, clock: Clock = systemClock): ServerTime {
  let known: { readonly server: number; readonly at: number } | undefined;
  let jumpedAt: number | undefined;

  function expected(): number | undefined {
    return known && Math.round(known.server + clock.now() - known.at);
  }

  return {
    sample(server) {
      const at = clock.now();
      const isJump = known !== undefined && Math.abs(server - expected()!) > toleranceMs;
      jumpedAt = isJump ? (jumpedAt ?? at) : undefined;
      if (jumpedAt !== undefined && at - jumpedAt < leaseMs) return;
      jumpedAt = undefined;
      known = { server, at };
    },
    expected,
  };
}
