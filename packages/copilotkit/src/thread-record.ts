import type { Json, Message, Session } from "@holodeck/agui-core";

/** Where a thread's name stands in its session's metadata: `context.session.set(…)` can name it too. */
export const nameKey = "threadName";
export const archivedKey = "threadArchived";

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
}

export function isArchived({ metadata }: Session): boolean {
  return metadata[archivedKey] === true;
}

export function toThread(session: Session): ThreadRecord {
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
  };
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
