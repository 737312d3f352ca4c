import { AgentError } from "@holodeck/agui-core";
import type { ListedSession, Session } from "@holodeck/agui-core";

/** Where a session is in a list of sessions. */
export type ListPlace = Pick<Session, "lastActivity" | "threadId">;

/** The order of `SessionStore.list`: the last used first, those of the same moment by their id. */
export function compareByLastUse(a: ListPlace, b: ListPlace): number {
  if (a.lastActivity !== b.lastActivity) return b.lastActivity - a.lastActivity;
  if (a.threadId === b.threadId) return 0;
  return a.threadId < b.threadId ? -1 : 1;
}

/**
 * The cursor of the page after a session. It names a place in the order and not the session, which may be
 * deleted or used before the next page is read.
 */
export function toCursor({ lastActivity, threadId }: ListPlace): string {
  return `${lastActivity}:${threadId}`;
}

/** The place that a cursor names. Throws `invalid-request` for any other text. */
export function fromCursor(cursor: string): ListPlace {
  const [, time, threadId] = /^(\d+):(.+)$/s.exec(cursor) ?? [];
  if (!time || !threadId) {
    throw new AgentError("invalid-request", `The cursor "${cursor}" is not valid.`);
  }
  return { lastActivity: Number(time), threadId };
}

/** A session as a list shows it. */
export function toListed(session: Session): ListedSession {
  const { principal, threadId, agentId, version, createdAt, lastActivity } = session;
  const { messageCount, metadata, lastRunId, size, active } = session;
  const place = { principal, threadId, agentId, version, createdAt, lastActivity };
  return { ...place, messageCount, metadata, lastRunId, size, activeRunId: active?.runId };
}
