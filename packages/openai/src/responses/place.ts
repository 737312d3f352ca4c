import { ulid } from "@holodeck/agui-core";
import { createRunView } from "@holodeck/agui-core/internal";
import type { Call, LogEntry, Message, ProtocolHost, Session } from "@holodeck/agui-core";
import type { ResponseRequest } from "./read-response.ts";
import { noteIn } from "./response-note.ts";
import {
  isOnThread,
  newResponseOn,
  responseNotFound,
  runOfResponse,
  threadOfResponse,
} from "./response-ids.ts";
import type { NewResponse } from "./response-ids.ts";
import { callerOf } from "./stored-response.ts";

/** The thread that a response belongs to. */
export interface ResponsePlace extends NewResponse {
  readonly threadId: string;
  /** What the thread holds. Absent: nothing. */
  readonly session: Session | undefined;
  /** The server has just named the thread. */
  readonly isNew: boolean;
  /** Removes a thread that was made for a request which is then refused. */
  readonly undo?: () => Promise<unknown>;
}

/**
 * Finds the thread of a request: that of the conversation or of the previous response, or a new one. A request that
 * continues a response which is not the last of its thread gets a copy of the thread as it was then.
 */
export async function findResponsePlace(
  call: Call,
  { previousId, conversation, isStored }: ResponseRequest,
  host: ProtocolHost,
): Promise<ResponsePlace> {
  const principal = callerOf(call);
  if (conversation !== undefined) {
    const threadId = conversation;
    const session = await host.sessions.get({ principal, threadId });
    return { threadId, ...newResponseOn(threadId), session, isNew: false };
  }
  if (previousId === undefined) {
    const threadId = ulid();
    return { threadId, ...newResponseOn(threadId), session: undefined, isNew: true };
  }
  const runId = runOfResponse(previousId);
  const record = await host.sessions.runs.find(principal, runId);
  const threadId = record?.threadId ?? threadOfResponse(previousId);
  const session = threadId && (await host.sessions.get({ principal, threadId }));
  const pastRuns = (session && session.pastRuns) || [];
  const isLast = pastRuns.at(-1)?.runId === runId;
  const isPast = isLast || pastRuns.some((past) => past.runId === runId);
  if (!session || !isPast || !isOnThread(previousId, session.threadId)) {
    throw responseNotFound(previousId, "previous_response_id");
  }
  if (isLast) {
    const { threadId: same } = session;
    return { threadId: same, ...newResponseOn(same), session, isNew: false };
  }
  if (!record) throw responseNotFound(previousId, "previous_response_id");
  const entries = await host.sessions.runs.read(record, 0);
  const messages = upTo(session.messages, entries);
  if (isStored) return fork({ ...session, messages }, entries, host);
  // Nothing is kept of it: it only needs the messages.
  const past = { ...session, messages, pending: [] };
  const unkept = ulid();
  return { threadId: unkept, ...newResponseOn(unkept), session: past, isNew: false };
}

// The thread goes on without it, so the other answers of the thread stay what they are.
async function fork(
  session: Session,
  entries: readonly LogEntry[],
  host: ProtocolHost,
): Promise<ResponsePlace> {
  const { principal, agentId, claimed, messages } = session;
  const ids = new Set(messages.flatMap(callIdsOf));
  const key = { principal, threadId: ulid() };
  await host.sessions.create(key, { agentId });
  const copy = await host.sessions.update(key, {
    messages,
    state: stateAfter(entries) ?? session.state,
    historyOwner: "server",
    ...(claimed && { claimed: claimed.filter((id) => ids.has(id)) }),
  });
  return {
    threadId: key.threadId,
    ...newResponseOn(key.threadId),
    session: copy,
    isNew: false,
    undo: async () => host.sessions.delete(key),
  };
}

// What the run sent, and what its request brought.
function upTo(messages: readonly Message[], entries: readonly LogEntry[]): readonly Message[] {
  const ids = new Set<unknown>();
  for (const { event } of entries) {
    for (const id of noteIn(event)?.input ?? []) ids.add(id);
    for (const id of [event.messageId, event.toolCallId, event.parentMessageId]) {
      if (id !== undefined) ids.add(id);
    }
  }
  const isOfRun = (message: Message): boolean =>
    ids.has(message.id) || callIdsOf(message).some((id) => ids.has(id));
  const last = messages.map(isOfRun).lastIndexOf(true);
  return messages.slice(0, last + 1);
}

function callIdsOf(message: Message): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
}

// A run that changes the state begins with a snapshot of it.
function stateAfter(entries: readonly LogEntry[]): unknown {
  if (!entries.some(({ event }) => event.type === "STATE_SNAPSHOT")) return undefined;
  const view = createRunView({ messages: [], state: {} });
  for (const { event, at } of entries) view.apply(event, at);
  return view.state;
}
