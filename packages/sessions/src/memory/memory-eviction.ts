import type { PrincipalThreads, Place, RecentSessions } from "./memory-recent.ts";

/** What the principal that is to give something up has most of. */
type Measure = "threads" | "bytes";

/**
 * The thread that makes room: the one used least recently of the principal that has most, one with questions only
 * when the principal has no other. Undefined when none may go.
 */
export function findEvictable(
  sessions: RecentSessions,
  measure: Measure,
  mayGo: (place: Place) => boolean,
): Place | undefined {
  let found: Place | undefined;
  let most = 0;
  for (const owner of sessions.owners) {
    const amount = measure === "threads" ? owner.count : magnitude(owner.bytes);
    if (amount < most) continue;
    const place = leastUsed(owner, mayGo);
    if (!place || (found && amount === most && place.use > found.use)) continue;
    found = place;
    most = amount;
  }
  return found;
}

/**
 * At a limit that refuses: the thread that gives way to a principal with less than an equal share, so that one
 * principal cannot lock out the others. Undefined when the new thread is to be refused.
 */
export function findOverShare(
  sessions: RecentSessions,
  { principal, limit }: { readonly principal: string; readonly limit: number },
  mayGo: (place: Place) => boolean,
): Place | undefined {
  const held = sessions.owner(principal)?.count ?? 0;
  const share = limit / (sessions.ownerCount + (held === 0 ? 1 : 0));
  if (held + 1 > share) return undefined;
  const place = findEvictable(sessions, "threads", mayGo);
  return place && place.owner.count > share ? place : undefined;
}

// Principals whose threads take about as much count as equal: then the last use decides.
function magnitude(bytes: number): number {
  return Math.floor(Math.log2(Math.max(1, bytes)));
}

function leastUsed(
  { ends }: PrincipalThreads,
  mayGo: (place: Place) => boolean,
): Place | undefined {
  for (const { oldest } of ends) {
    for (let place = oldest; place; place = place.newer) if (mayGo(place)) return place;
  }
  return undefined;
}
