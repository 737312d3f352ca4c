import { AgentError } from "@holodeck/agui-core";
import { toAnswers } from "@holodeck/agui-core/internal";
import type {
  Clock,
  HistoryOwner,
  InterruptAnswer,
  Message,
  Pending,
  RunAgentInput,
  Session,
} from "@holodeck/agui-core";
import { askedIn, believe, withoutForged } from "./believed.ts";
import type { Believed } from "./believed.ts";

export interface HistoryOptions {
  /** The owner of the messages of a thread that has none yet. */
  readonly owner: HistoryOwner;
  /** Whether the request holds all messages, and not only what is new. */
  readonly isWhole: boolean;
  /** Take tool results and system messages as sent. */
  readonly trust: boolean;
  /** Names of the tools that run on the server: their results never come from a client. */
  readonly serverTools: ReadonlySet<string>;
  readonly clock: Clock;
}

export interface PreparedInput {
  /** What the agent is given. */
  readonly input: RunAgentInput;
  /** What the thread holds from now on. */
  readonly history: readonly Message[];
  /** The owner of the messages. */
  readonly owner: HistoryOwner;
  /** Whether the request was added to what the thread held, instead of replacing it. */
  readonly isAdded: boolean;
  /** Ids of the calls in it that only a client vouches for. */
  readonly claimed: readonly string[];
  /** What is still unanswered once this input is in. */
  readonly pending: readonly Pending[];
  /** What the server asked and this input answers. */
  readonly answers: readonly InterruptAnswer[];
  /** Descriptions of messages that could not be verified. */
  readonly dropped: readonly string[];
}

/** Whether a request is added to what its thread holds: the server owns that, or the request is not whole. */
export function isAddedTo(
  { historyOwner }: Session,
  { owner, isWhole }: Pick<HistoryOptions, "owner" | "isWhole">,
): boolean {
  return !isWhole || (historyOwner ?? owner) === "server";
}

/** The input as far as it is believed, and what it makes of its thread. */
export function prepareInput(
  input: RunAgentInput,
  session: Session,
  options: HistoryOptions,
): PreparedInput {
  assertResume(input, session, options.clock);
  const { trust, serverTools } = options;
  const isKnown = session.messages.length > 0 || session.lastRunId !== undefined;
  const isAdded = isAddedTo(session, options);
  const believed =
    trust || isSimple(input, session)
      ? { messages: input.messages, claimed: noClaims, dropped: nothing }
      : believe(input.messages, session, { serverTools, isKnown });
  const { messages: sent, dropped } = believed;
  const kept = trust ? session.messages : withoutForged(session, serverTools);
  const messages = isAdded && isKnown ? added(sent, input, { session, kept, trust }) : sent;
  const history = isAdded ? messages : keepActivities(session.messages, sent);
  const state = hasState(input.state) ? input.state : (session.state ?? input.state ?? {});
  return {
    // A separate list: changes by the agent do not affect the thread.
    input: { ...input, messages: spokenOf(messages), state },
    history,
    owner: session.historyOwner ?? options.owner,
    isAdded,
    claimed: trust ? nothing : claimsIn(history, session, believed),
    pending:
      session.pending.length === 0
        ? session.pending
        : session.pending.filter((one) => !isAnswered(one, input, messages)),
    answers: toAnswers(session.pending, input.resume),
    dropped,
  };
}

/** A thread that the server owns may have become too long: what the store let go of is gone for all. */
export function asStored(
  { input }: PreparedInput,
  { messages }: Session,
): Pick<PreparedInput, "input" | "history"> {
  return { input: { ...input, messages: spokenOf(messages) }, history: messages };
}

/** The thread keeps what its client sent; only the agent reads files as text. */
export function asRead(
  prepared: PreparedInput,
  replaced: ReadonlyMap<Message, Message> | undefined,
): Pick<PreparedInput, "input" | "history"> {
  if (!replaced?.size) return prepared;
  const { input, history } = prepared;
  const messages = input.messages.map((message) => replaced.get(message) ?? message);
  return { input: { ...input, messages }, history };
}

// Nearly always all of them; a copy is just as long as it has to be, what was filtered is not.
function spokenOf(messages: readonly Message[]): Message[] {
  return messages.every(isSpoken) ? messages.slice() : messages.filter(isSpoken);
}

function isSpoken({ role }: Message): boolean {
  return role !== "activity";
}

/**
 * An approval is valid only if this server asked for it, it has not expired, and it is used once.
 */
function assertResume(
  { resume }: RunAgentInput,
  { pending, threadId }: Pick<Session, "pending" | "threadId">,
  clock: Clock,
): void {
  if (resume === undefined || resume.length === 0) return;
  const used = new Set<string>();
  for (const { interruptId } of resume) {
    const asked = pending.find(({ id, kind }) => kind === "interrupt" && id === interruptId);
    if (asked && !used.has(interruptId) && !isExpired(asked, clock)) {
      used.add(interruptId);
      continue;
    }
    throw new AgentError(
      "unknown-interrupt",
      `Thread "${threadId}" has no open interrupt "${interruptId}".`,
    );
  }
}

function isExpired({ value }: Pending, clock: Clock): boolean {
  const { expiresAt } = value;
  // Not a date: nothing that could have passed.
  return typeof expiresAt === "string" && Date.parse(expiresAt) <= clock.now();
}

function isAnswered(
  { id, kind }: Pending,
  { resume = [] }: RunAgentInput,
  sent: readonly Message[],
): boolean {
  if (kind === "interrupt") return resume.some(({ interruptId }) => interruptId === id);
  return sent.some((message) => message.role === "tool" && message.toolCallId === id);
}

const nothing: readonly string[] = Object.freeze([]);
const noClaims: ReadonlySet<string> = new Set();

// A new thread with only user messages: there is nothing to verify.
function isSimple({ messages }: RunAgentInput, session: Session): boolean {
  if (session.messages.length > 0 || session.pending.length > 0) return false;
  for (const { role } of messages) if (role !== "user") return false;
  return true;
}

function claimsIn(
  history: readonly Message[],
  { claimed: before = nothing }: Session,
  { claimed }: Believed,
): readonly string[] {
  if (before.length === 0 && claimed.size === 0) return nothing;
  const claims = new Set([...before, ...claimed]);
  return history.flatMap((message) =>
    message.role === "assistant"
      ? (message.toolCalls ?? []).flatMap(({ id }) => (claims.has(id) ? id : []))
      : [],
  );
}

interface Thread {
  readonly session: Session;
  /** Its messages that are believed. */
  readonly kept: readonly Message[];
  readonly trust: boolean;
}

// Of a request that is added to its thread only the user's new messages and the answers to what waits are taken.
function added(
  sent: readonly Message[],
  input: RunAgentInput,
  { session, kept, trust }: Thread,
): readonly Message[] {
  const base = rewound(kept, input);
  const known = new Set(session.messages.map(({ id }) => id));
  if (base !== kept) known.delete(input.messages.at(-1)!.id);
  const old = session.pruned ? oldMessages(input.messages, session) : known;
  const called = new Set(
    base.flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : [])).map(idOf),
  );
  const answered = new Set(base.flatMap((one) => (one.role === "tool" ? one.toolCallId : [])));
  // The calls that the request answers a question about, and that the store has pruned.
  const pruned = new Set(
    input.resume ? askedIn(session).flatMap(({ id }) => (called.has(id) ? [] : id)) : nothing,
  );
  const restored =
    pruned.size === 0
      ? []
      : sent.flatMap((one) => (known.has(one.id) ? [] : restoredCalls(one, pruned)));
  const news = sent.filter((message) => {
    if (known.has(message.id) || old.has(message.id)) return false;
    if (message.role === "user") return true;
    if (message.role === "tool") {
      // A call that waits may have been pruned; one that was rewound is gone.
      const isCalled = base === kept || called.has(message.toolCallId);
      return isCalled && !answered.has(message.toolCallId);
    }
    return trust && message.role !== "activity";
  });
  return [...base, ...restored, ...news];
}

// Each once, and nothing else of what a client sends as an assistant's.
function restoredCalls(message: Message, ids: Set<string>): Message[] {
  if (message.role !== "assistant") return [];
  const toolCalls = message.toolCalls?.filter((call) => ids.delete(call.id)) ?? [];
  return toolCalls.length === 0 ? [] : [{ id: message.id, role: message.role, toolCalls }];
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

// If the last message is a user message already in the thread, this is a regenerate or an edit:
// drop everything after it.
function rewound(
  messages: readonly Message[],
  { messages: sent, resume = [] }: RunAgentInput,
): readonly Message[] {
  const last = sent.at(-1);
  if (last?.role !== "user" || resume.length > 0) return messages;
  const place = messages.findIndex(({ id, role }) => role === "user" && id === last.id);
  return place === -1 ? messages : messages.slice(0, place);
}

// A client that sends the whole history also sends messages that the thread has dropped: they
// precede the remaining ones, or an answer.
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

// Clients do not send activities back. They stay where they were: after the message they followed.
function keepActivities(before: readonly Message[], sent: readonly Message[]): readonly Message[] {
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

function hasState(state: unknown): boolean {
  if (state === undefined || state === null) return false;
  // A fresh client sends `{}`; that must not wipe what the thread has.
  return typeof state !== "object" || Object.keys(state).length > 0;
}
