import { AgentError, toAnswers } from "@holodeck/agui-core";
import type {
  Clock,
  InterruptAnswer,
  Message,
  Pending,
  RunAgentInput,
  Session,
} from "@holodeck/agui-core";

export interface HistoryOptions {
  /** Who owns the messages. */
  readonly owner: "client" | "server";
  /** Take tool results and system messages as sent. */
  readonly trust: boolean;
  readonly clock: Clock;
}

export interface PreparedInput {
  /** What the agent is given. */
  readonly input: RunAgentInput;
  /** What the thread holds from now on. */
  readonly history: readonly Message[];
  /** What is still unanswered once this input is in. */
  readonly pending: readonly Pending[];
  /** What the server asked and this input answers. */
  readonly answers: readonly InterruptAnswer[];
  /** What a client cannot vouch for, in words. */
  readonly dropped: readonly string[];
}

/**
 * The input as far as it is believed. Trust is relative to what the store knows: on a thread it knows,
 * a tool result must answer a call that waits or be one it has seen; on one it does not know (another
 * instance, a restart), the call must be in the same request.
 */
export function prepareInput(
  input: RunAgentInput,
  session: Session,
  options: HistoryOptions,
): PreparedInput {
  assertResume(input, session, options.clock);
  const { owner } = options;
  const isKnown = session.messages.length > 0 || session.lastRunId !== undefined;
  const { sent, dropped } = options.trust
    ? { sent: input.messages, dropped: nothing }
    : isSimple(input, session)
      ? { sent: input.messages, dropped: nothing }
      : believed(input, session, { owner, isKnown });
  const messages = owner === "server" ? added(sent, input, session) : sent;
  const state = hasState(input.state) ? input.state : (session.state ?? input.state ?? {});
  return {
    // A list of its own: what an agent does to it is not done to the thread.
    input: { ...input, messages: spokenOf(messages), state },
    history: owner === "server" ? messages : keepActivities(session.messages, sent),
    pending:
      session.pending.length === 0
        ? session.pending
        : session.pending.filter(({ id, kind }) => !isAnswered(id, kind, input)),
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

/** An approval is worth something only if this server asked for it, in time, and it is used once. */
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

function isAnswered(id: string, kind: Pending["kind"], input: RunAgentInput): boolean {
  if (kind === "interrupt") return (input.resume ?? []).some((entry) => entry.interruptId === id);
  return input.messages.some((message) => message.role === "tool" && message.toolCallId === id);
}

const nothing: readonly string[] = [];

// A new thread, and only people speak in it: there is nothing to hold against anything.
function isSimple({ messages }: RunAgentInput, session: Session): boolean {
  if (session.messages.length > 0 || session.pending.length > 0) return false;
  for (const { role } of messages) if (role !== "user") return false;
  return true;
}

function believed(
  input: RunAgentInput,
  session: Session,
  { isKnown, owner }: Pick<HistoryOptions, "owner"> & { isKnown: boolean },
): { sent: readonly Message[]; dropped: readonly string[] } {
  const known = new Map(session.messages.map((message) => [message.id, message]));
  const results = new Map(session.messages.flatMap(toResult));
  const waiting = new Set(session.pending.flatMap(({ id, kind }) => (kind === "tool" ? id : [])));
  // What a person was asked about: the result is the server's to give.
  const asked = new Set(session.pending.map(({ value }) => value.toolCallId));
  const called = new Set<string>();
  const repeated = new Set<string>();
  const calls = knownCalls(session.messages);
  const dropped: string[] = [];
  const messages = input.messages.flatMap((message): Message[] => {
    if (message.role === "assistant") {
      for (const { id } of message.toolCalls ?? []) called.add(id);
    }
    if (message.role === "system" || message.role === "developer") {
      dropped.push(`${message.role} message "${message.id}"`);
      return [];
    }
    // Under ids of the client's own it would be there twice.
    if (owner === "server" && isKnown && isSaidHere(message) && !known.has(message.id)) return [];
    if (message.role === "assistant") return [withKnownCalls(message, calls)];
    if (message.role !== "tool") return [message];
    const { toolCallId } = message;
    const same = known.get(message.id);
    // Sent back as we know it: a result is not changed after the fact. Some clients keep no id of it.
    const seen =
      same?.role === "tool" && same.toolCallId === toolCallId ? same : results.get(toolCallId);
    if (seen && !repeated.has(seen.id)) {
      repeated.add(seen.id);
      return [seen];
    }
    if (waiting.has(toolCallId)) return [message];
    // Nobody here has seen the call, or what was seen has been pruned: the request must hold it.
    const isTheirs = (!isKnown || isPruned(session)) && !asked.has(toolCallId);
    if (isTheirs && called.has(toolCallId)) return [message];
    dropped.push(`result "${message.id}" of the call "${message.toolCallId}"`);
    return [];
  });
  return { sent: messages, dropped };
}

function isSaidHere({ role }: Message): boolean {
  return role === "assistant" || role === "reasoning";
}

function toResult(message: Message): [string, Message][] {
  return message.role === "tool" ? [[message.toolCallId, message]] : [];
}

type Assistant = Extract<Message, { role: "assistant" }>;
type Calls = NonNullable<Assistant["toolCalls"]>;

function knownCalls(messages: readonly Message[]): ReadonlyMap<string, Calls[number]> {
  return new Map(
    messages.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map((call) => [call.id, call]) : [],
    ),
  );
}

// A result belongs to the call it was given to, whatever a client calls that later.
function withKnownCalls(message: Assistant, known: ReadonlyMap<string, Calls[number]>): Assistant {
  const { toolCalls } = message;
  if (!toolCalls?.some(({ id }) => known.has(id))) return message;
  return { ...message, toolCalls: toolCalls.map((call) => known.get(call.id) ?? call) };
}

function isPruned({ messages, messageCount }: Session): boolean {
  const kept = messages.filter(({ role }) => role === "user" || role === "assistant");
  return kept.length < messageCount;
}

// What is news to a thread that the server owns goes to its end.
function added(
  sent: readonly Message[],
  input: RunAgentInput,
  session: Session,
): readonly Message[] {
  if (session.messages.length === 0 && session.messageCount === 0) return [...sent];
  const base = rewound(session.messages, input);
  const known = new Set(base.map(({ id }) => id));
  const old = isPruned(session) ? oldMessages(input.messages, session) : known;
  return [...base, ...sent.filter(({ id }) => !known.has(id) && !old.has(id))];
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
