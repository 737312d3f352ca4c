import type { AgentError, Lease, Session, SessionStore, ThreadKey } from "@holodeck/agui-core";
import { sessionNotFound, tooManyWrites } from "../storage/store-errors.ts";
import { createTurns } from "../storage/turns.ts";
import type { PruneOptions } from "./prune-messages.ts";
import { changeSession } from "./session-record.ts";

/** The calls of a store that several processes write to. `Found` is what it needs to know of what it has read. */
export interface UpdateCalls<Found extends { readonly session: Session; readonly now: number }> {
  readonly prune: PruneOptions;
  find(key: ThreadKey): Promise<Found | undefined>;
  /** Writes if the version is still the one that was found and the lease, if any, is held. */
  write(
    changed: Session,
    found: Found,
    lease: Lease | undefined,
  ): Promise<"ok" | "conflict" | "lost">;
  isHeld(lease: Lease): Promise<boolean>;
  lost(lease: Lease): AgentError;
}

// With one writer per thread a conflict is rare; so many in a row mean that something is wrong.
const writeAttempts = 50;

/** `update` of a store that reads a thread, changes it and writes it if no other process has. */
export function createUpdates<Found extends { readonly session: Session; readonly now: number }>(
  calls: UpdateCalls<Found>,
): SessionStore["update"] {
  const turns = createTurns();

  async function update(...[key, change, guard = {}]: UpdateArguments): Promise<Session> {
    const { ifVersion, lease } = guard;
    for (let attempt = 0; attempt < writeAttempts; attempt++) {
      const found = await calls.find(key);
      let changed: Session;
      try {
        if (!found) throw sessionNotFound(key);
        changed = changeSession(found.session, change, {
          ...calls.prune,
          now: found.now,
          ifVersion,
        });
      } catch (error) {
        // A lost lease is the reason that counts.
        if (lease && !(await calls.isHeld(lease))) throw calls.lost(lease);
        throw error;
      }
      const answer = await calls.write(changed, found, lease);
      if (answer === "ok") return changed;
      if (lease && answer === "lost") throw calls.lost(lease);
    }
    throw tooManyWrites(key);
  }

  // In turn within a process: only two processes can be in each other's way.
  return (...args) => {
    const [{ principal, threadId }] = args;
    return turns(`${principal.length}:${principal}:${threadId}`, () => update(...args));
  };
}

type UpdateArguments = Parameters<SessionStore["update"]>;
