import { systemClock } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";
import type { Database } from "./database.ts";

/**
 * The time by which processes compare their leases, in milliseconds: the date when the first of them opened the file, and
 * how long the machine has been running since. It is the same for all of them, and setting the date does not change it. A
 * clock of the host's replaces it.
 */
export function createLeaseTime(db: Database, clock: Clock): () => number {
  if (clock !== systemClock) return () => clock.now();
  if (!isSharedByProcesses()) return () => Date.now();
  const origin = db.write(() => {
    db.sql("INSERT OR IGNORE INTO lease_time (id, origin) VALUES (1, ?)").run(
      Date.now() - uptimeMs(),
    );
    return (db.sql("SELECT origin FROM lease_time").get() as { origin: number }).origin;
  });
  return () => origin + uptimeMs();
}

/** Whether a lease holds; not when its end is further away than it can be, as after a restart of the machine. */
export function isHeld(
  { expires_at, lease_ms }: { readonly expires_at: number; readonly lease_ms: number },
  now: number,
): boolean {
  // Twice: where the date is all there is, it may have been set back a little.
  return expires_at > now && expires_at - now <= lease_ms * 2;
}

/** The same in SQL, with the time as its parameter. */
export const holds = "expires_at - ? BETWEEN 1 AND lease_ms * 2";

// Bun and Deno count from the start of the process.
function isSharedByProcesses(): boolean {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  return bun === undefined && deno === undefined;
}

function uptimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + Math.floor(nanoseconds / 1_000_000);
}
