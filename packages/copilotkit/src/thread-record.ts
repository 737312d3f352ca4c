import type { Json, ListedSession, Message } from "@holodeck/agui-core";

// The keys in the metadata of a session: an agent can name its thread too, with
// `context.session.set("threadName", …)`.
const nameKey = "threadName";
const archivedKey = "threadArchived";
const usedKey = "threadUsed";

/** A thread as CopilotKit's thread store has it. */
export interface ThreadRecord {
  readonly id: string;
  readonly name: string | null;
  readonly agentId: string;
  readonly organizationId: string;
  readonly createdById: string;
  readonly archived: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** What lists are sorted by: a thread does not move when it gets a name. */
  readonly lastRunAt: string;
}

/** What can be changed about a thread. */
export interface ThreadChange {
  readonly name?: string | null | undefined;
  readonly archived?: boolean | undefined;
}

export function isArchived({ metadata }: ListedSession): boolean {
  return metadata[archivedKey] === true;
}

export function toThreadRecord(session: ListedSession): ThreadRecord {
  const { threadId, agentId, principal, metadata, createdAt, lastActivity } = session;
  const name = metadata[nameKey];
  return {
    id: threadId,
    name: typeof name === "string" ? name : null,
    agentId,
    // Its platform's word; there are none here.
    organizationId: "",
    createdById: principal,
    archived: isArchived(session),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(lastActivity).toISOString(),
    lastRunAt: new Date(lastUse(session)).toISOString(),
  };
}

/** The metadata that makes a change. */
export function toMetadata({ name, archived }: ThreadChange, session: ListedSession): Json {
  return {
    ...(name === undefined ? {} : { [nameKey]: name }),
    ...(archived === undefined ? {} : { [archivedKey]: archived }),
    [usedKey]: { at: lastUse(session), version: session.version + 1 },
  };
}

// Every update of a session counts as activity. If ours was the last one, the time before it counts.
function lastUse({ metadata, version, lastActivity }: ListedSession): number {
  const used = metadata[usedKey] as { at?: unknown; version?: unknown } | undefined;
  return used?.version === version && typeof used.at === "number" ? used.at : lastActivity;
}

/** A message as CopilotKit's inspector shows it. */
export function toPlainMessage(message: Message): Json {
  const { id, role } = message;
  const plain: Json = { id, role };
  if (message.content !== undefined) plain.content = message.content;
  if (message.role === "assistant" && message.toolCalls) {
    plain.toolCalls = message.toolCalls.map((call) => ({
      id: call.id,
      name: call.function.name,
      args: call.function.arguments,
    }));
  }
  if (message.role === "tool") plain.toolCallId = message.toolCallId;
  return plain;
}
