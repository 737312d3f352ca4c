import { callsIn, toAnswers } from "@holodeck/agui-core/internal";
import type {
  Clock,
  HistoryOwner,
  InterruptAnswer,
  Message,
  Pending,
  RunAgentInput,
  Session,
} from "@holodeck/agui-core";
import { addMessages, keepActivities } from "./add-messages.ts";
import { assertResume } from "./assert-resume.ts";
import { believe, withoutForged } from "./believed.ts";
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
    trust || isSimple(input)
      ? { messages: input.messages, claimed: noClaims, dropped: nothing }
      : believe(input.messages, session, { serverTools, isKnown });
  const { messages: sent, dropped } = believed;
  const kept = trust ? session.messages : withoutForged(session, serverTools);
  const messages = isAdded && isKnown ? addMessages(sent, input, { session, kept, trust }) : sent;
  const history = isAdded ? messages : keepActivities(session.messages, sent);
  const state = hasState(input.state) ? input.state : (session.state ?? input.state ?? {});
  return {
    // A separate list: changes by the agent do not affect the thread.
    input: { ...input, messages: withoutActivities(messages), state },
    history,
    isAdded,
    claimed: trust ? nothing : claimsIn(history, session, believed),
    pending:
      session.pending.length === 0
        ? session.pending
        : session.pending.filter((one) => !isAnswered(one, input, messages)),
    answers: input.resume?.length ? toAnswers(session.pending, input.resume) : noAnswers,
    dropped,
  };
}

/** A thread that the server owns may have become too long: what the store let go of is gone for all. */
export function asStored(
  { input }: PreparedInput,
  { messages }: Session,
): Pick<PreparedInput, "input" | "history"> {
  return { input: { ...input, messages: withoutActivities(messages) }, history: messages };
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
function withoutActivities(messages: readonly Message[]): Message[] {
  return messages.every(isNoActivity) ? messages.slice() : messages.filter(isNoActivity);
}

function isNoActivity({ role }: Message): boolean {
  return role !== "activity";
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
const noAnswers: readonly InterruptAnswer[] = Object.freeze([]);
const noClaims: ReadonlySet<string> = new Set();

// Only messages of the user: there is nothing to verify.
function isSimple({ messages }: RunAgentInput): boolean {
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
  return history.flatMap(callsIn).flatMap(({ id }) => (claims.has(id) ? id : []));
}

function hasState(state: unknown): boolean {
  if (state === undefined || state === null) return false;
  // A fresh client sends `{}`; that must not wipe what the thread has.
  return typeof state !== "object" || Object.keys(state).length > 0;
}
