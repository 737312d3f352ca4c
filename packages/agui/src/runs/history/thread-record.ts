import type { Message, RunKey, Session } from "@holodeck/agui-core";

// Shared: a record is replaced and never changed.
const emptySize = Object.freeze({ messages: 0, characters: 0, messageBytes: 0, stateBytes: 0 });
const noMetadata = Object.freeze({});
const nothing: readonly never[] = Object.freeze([]);

/** The record of an unknown thread. */
export function emptySession({ principal, threadId }: RunKey, agentId: string): Session {
  return {
    principal,
    threadId,
    agentId,
    version: 0,
    createdAt: 0,
    lastActivity: 0,
    messageCount: 0,
    messages: nothing,
    state: undefined,
    metadata: noMetadata,
    pending: nothing,
    size: emptySize,
  };
}

/** The messages, with a mark on the assistant message that was interrupted with its run. */
export function markIncomplete(
  messages: readonly Message[],
  before: readonly Message[],
): readonly Message[] {
  const known = new Set(before.map(({ id }) => id));
  const replies = messages.filter(({ id, role }) => role === "assistant" && !known.has(id));
  const last = replies.at(-1);
  if (!last) return messages;
  return messages.map((message) =>
    message === last
      ? { ...message, metadata: { ...message.metadata, incomplete: true } }
      : message,
  );
}
