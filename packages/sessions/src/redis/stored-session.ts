import type { Session, ThreadKey } from "@holodeck/agui-core";

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
