import { answeredIn, callsIn } from "@holodeck/agui-core/internal";
import type { Message, RunAgentInput, Session } from "@holodeck/agui-core";
import { askedIn } from "./believed.ts";

interface Thread {
  readonly session: Session;
  /** Its messages that are believed. */
  readonly kept: readonly Message[];
  readonly trust: boolean;
}

/**
 * A thread with the messages of a request: of a request that is added to its thread only the user's new messages
 * and the answers to what waits are taken.
 */
export function addMessages(
  sent: readonly Message[],
  input: RunAgentInput,
  { session, kept, trust }: Thread,
): readonly Message[] {
  const base = rewound(kept, input);
  const known = new Set(session.messages.map(({ id }) => id));
  if (base !== kept) known.delete(input.messages.at(-1)!.id);
  const old = session.pruned ? oldMessages(input.messages, session) : known;
  const called = new Set(base.flatMap(callsIn).map(({ id }) => id));
  const answered = answeredIn(base);
  // The calls that the request answers a question about, and that the store has pruned.
  const pruned = new Set(
    input.resume ? askedIn(session).flatMap(({ id }) => (called.has(id) ? [] : id)) : [],
  );
  const restored = sent.flatMap((one) => (known.has(one.id) ? [] : restoredCalls(one, pruned)));
  const news = sent.filter((message) => {
    if (known.has(message.id) || old.has(message.id)) return false;
    if (message.role === "user") return true;
    if (message.role === "tool") {
      // A call that waits may have been pruned; one that was rewound is gone.
      const isCalled = base === kept || called.has(message.toolCallId);
      return isCalled && !answered.has(message.toolCallId);
    }
    return trust;
  });
  return [...base, ...restored, ...news];
}

// Each once, and nothing else of what a client sends as an assistant's.
function restoredCalls(message: Message, ids: Set<string>): Message[] {
  const toolCalls = callsIn(message).filter((call) => ids.delete(call.id));
  return toolCalls.length === 0 ? [] : [{ id: message.id, role: "assistant", toolCalls }];
}

// Who ends with a message of the user's that the thread has had wants another answer, or has edited
// it: what followed is taken back.
function rewound(
  messages: readonly Message[],
  { messages: sent, resume = [] }: RunAgentInput,
): readonly Message[] {
  const last = sent.at(-1);
  if (last?.role !== "user" || resume.length > 0) return messages;
  const place = messages.findIndex(({ id, role }) => role === "user" && id === last.id);
  return place === -1 ? messages : messages.slice(0, place);
}

// A client that sends everything also sends what the thread has let go of: it stands before what is
// still here, or before an answer.
function oldMessages(
  sent: readonly Message[],
  { messages, pending }: Session,
): ReadonlySet<string> {
  const known = new Set(messages.map(({ id }) => id));
  const waiting = new Set(pending.flatMap(({ id, kind }) => (kind === "tool" ? id : [])));
  // The last one is what is asked now, also when it is asked again.
  const before = sent.at(-1)?.role === "user" ? sent.slice(0, -1) : sent;
  const here = before.map(({ id }) => known.has(id)).lastIndexOf(true);
  const end = here === -1 ? before.map(({ role }) => role).lastIndexOf("assistant") : here;
  return new Set(
    before
      .slice(0, end + 1)
      .flatMap((one) => (one.role === "tool" && waiting.has(one.toolCallId) ? [] : one.id)),
  );
}

/** Clients do not send activities back. They stay where they were: after the message they followed. */
export function keepActivities(
  before: readonly Message[],
  sent: readonly Message[],
): readonly Message[] {
  if (!before.some(({ role }) => role === "activity")) return sent;
  const ids = new Set(sent.map(({ id }) => id));
  const following = new Map<string | undefined, Message[]>();
  let anchor: string | undefined;
  for (const message of before) {
    if (ids.has(message.id)) anchor = message.id;
    else if (message.role === "activity") {
      following.set(anchor, [...(following.get(anchor) ?? []), message]);
    }
  }
  return [
    ...(following.get(undefined) ?? []),
    ...sent.flatMap((message) => [message, ...(following.get(message.id) ?? [])]),
  ];
}
