import type { ListedSession, Session, ThreadKey } from "@holodeck/agui-core";
import { toListed } from "../kit/sessions/session-list.ts";

/** Everything except what is in the key and what changes without it. */
export function toStored(session: Session): string {
  const { principal: _, threadId: __, lastActivity: ___, ...rest } = session;
  return JSON.stringify(rest);
}

export function fromStored(key: ThreadKey, json: string, lastActivity: number): Session {
  const rest = JSON.parse(json) as Omit<Session, "principal" | "threadId" | "lastActivity">;
  const { principal, threadId } = key;
  return { ...rest, state: rest.state, principal, threadId, lastActivity };
}

/** What a list needs, in a separate field: a list reads no messages. */
export function toStoredHead(session: Session): string {
  const { principal: _, threadId: __, lastActivity: ___, ...rest } = toListed(session);
  return JSON.stringify(rest);
}

export function fromStoredHead(key: ThreadKey, json: string, lastActivity: number): ListedSession {
  const { principal, threadId } = key;
  const rest = JSON.parse(json) as Omit<ListedSession, "principal" | "threadId" | "lastActivity">;
  return { ...rest, principal, threadId, lastActivity };
}
