import { AgentError } from "@holodeck/agui-core";
import type { ListedSession, Session, SessionStore } from "@holodeck/agui-core";

/** Where a session is in a list of sessions. */
export interface ListPlace {
  readonly lastActivity: number;
  /** What orders those of the same moment: the id of the thread, or what a store has for it. */
  readonly name: string;
}

/** The order of `SessionStore.list`: the last used first, those of the same moment by their names. */
export function comparePlaces(a: ListPlace, b: ListPlace): number {
  if (a.lastActivity !== b.lastActivity) return b.lastActivity - a.lastActivity;
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

/** The place of a session whose thread's id orders those of the same moment. */
export function placeOf({
  lastActivity,
  threadId,
}: Pick<Session, "lastActivity" | "threadId">): ListPlace {
  return { lastActivity, name: threadId };
}

/** The place that a cursor names. Throws `invalid-request` for any other text. */
export function fromCursor(cursor: string): ListPlace {
  const [, time, name] = /^(\d{1,15}):(.+)$/s.exec(cursor) ?? [];
  if (!time || !name) throw invalidCursor(cursor);
  return { lastActivity: Number(time), name };
}

/** For `list` with a text that no list has returned. */
export function invalidCursor(cursor: string): AgentError {
  return new AgentError("invalid-request", `The cursor "${cursor}" is not valid.`);
}

/**
 * One page of a list: of rows of which there is one more when another page follows. The cursor names a place in the
 * order and not the session, which may be deleted or used before the next page is read.
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  of: { readonly item: (row: Row) => ListedSession; readonly place: (row: Row) => ListPlace },
): { items: ListedSession[]; next: string | undefined } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? toCursor(of.place(last)) : undefined;
  return { items: shown.map(of.item), next };
}

function toCursor({ lastActivity, name }: ListPlace): string {
  return `${lastActivity}:${name}`;
}

/** One page of sessions that are all at hand. */
export function listSessions(
  sessions: readonly Session[],
  { agentId, limit, cursor }: Omit<Parameters<SessionStore["list"]>[0], "principal">,
): { items: ListedSession[]; next: string | undefined } {
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  const rows = sessions
    .filter((one) => !agentId || one.agentId === agentId)
    .filter((one) => !after || comparePlaces(placeOf(one), after) > 0)
    .sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
  return toPage(rows, limit, { item: toListed, place: placeOf });
}

/** A session as a list shows it. */
export function toListed(session: Session): ListedSession {
  const { principal, threadId, agentId, version, createdAt, lastActivity } = session;
  const { messageCount, metadata, lastRunId, size, active } = session;
  const place = { principal, threadId, agentId, version, createdAt, lastActivity };
  return { ...place, messageCount, metadata, lastRunId, size, activeRunId: active?.runId };
}
