import type { ListedSession, Message, Session } from "@holodeck/agui-core";

/** What is neither in a list nor large: no query looks into it. */
export type SessionRest = Pick<
  Session,
  "pending" | "active" | "times" | "historyOwner" | "pruned" | "pastRuns" | "claimed"
>;

export function restOf(session: Session): SessionRest {
  const { pending, active, times, historyOwner, pruned, pastRuns, claimed } = session;
  return { pending, active, times, historyOwner, pruned, pastRuns, claimed };
}

/** A session of the parts that a store keeps apart. */
export function joinSession(
  listed: ListedSession,
  messages: readonly Message[],
  { state, rest }: { readonly state: unknown; readonly rest: Partial<SessionRest> },
): Session {
  const { activeRunId: _, ...head } = listed;
  const { pending = [], active, times, historyOwner, pruned, pastRuns, claimed } = rest;
  return {
    ...head,
    messages,
    state,
    pending,
    active,
    times,
    historyOwner,
    pruned,
    pastRuns,
    claimed,
  };
}
