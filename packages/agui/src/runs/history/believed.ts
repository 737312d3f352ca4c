import {
  callsIn,
  describeCall,
  isEqualJson,
  withCalls,
  withoutClaims,
} from "@holodeck/agui-core/internal";
import type { AskedCall, Message, Session } from "@holodeck/agui-core";

export interface Trust {
  /** Names of the tools that run on the server. */
  readonly serverTools: ReadonlySet<string>;
  /** Whether the thread has been used before. */
  readonly isKnown: boolean;
}

export interface Believed {
  /** What is left of the messages that a client sent. */
  readonly messages: readonly Message[];
  /** Ids of the calls in them that only the client vouches for. */
  readonly claimed: ReadonlySet<string>;
  /** Descriptions of what was dropped. */
  readonly dropped: readonly string[];
}

type Assistant = Extract<Message, { role: "assistant" }>;
type ToolMessage = Extract<Message, { role: "tool" }>;
type Call = NonNullable<Assistant["toolCalls"]>[number];

/** A call of the thread, and the user's message that led to it. */
interface StoredCall {
  readonly call: Call;
  readonly user: Message | undefined;
}

/**
 * The messages of a request as far as they are believed. A call of a server tool is one that the thread holds,
 * under the same message of the user, with the name, arguments and result that it has there. A result of any
 * other tool answers a call that waits, or is one that the thread holds; where the thread cannot know the call,
 * since the store has not seen the thread or has pruned that part, the request itself holds the call.
 */
export function believe(sent: readonly Message[], session: Session, trust: Trust): Believed {
  const reading = new Reading(sent, session, trust);
  const messages = sent.flatMap((message, index) => reading.take(message, index));
  return { messages, claimed: reading.claimed, dropped: reading.dropped };
}

/** The messages of a thread without calls that a client made up for what is a server tool, and their results. */
export function withoutForged(
  { messages, claimed }: Session,
  serverTools: ReadonlySet<string>,
): readonly Message[] {
  // As a rule nothing is claimed.
  if (!claimed?.length) return messages;
  return withoutClaims(messages, { claimed: new Set(claimed), serverTools });
}

/** What one request is read against, and what has been read of it. */
class Reading {
  readonly claimed = new Set<string>();
  readonly dropped: string[] = [];
  readonly #trust: Trust;
  readonly #known = new Map<string, Message>();
  readonly #calls = new Map<string, StoredCall>();
  readonly #results = new Map<string, ToolMessage>();
  readonly #waiting: ReadonlySet<string>;
  /** The calls that a person was asked about: their results come from the server. */
  readonly #asked: ReadonlySet<unknown>;
  /** Those of them that the server would make, by their ids. */
  readonly #questions: ReadonlyMap<string, AskedCall>;
  /** The last message that the store may have let go of. */
  readonly #oldest: number;
  /** The calls of this request that were taken, with their places. */
  readonly #called = new Map<string, number>();
  readonly #refused = new Set<string>();
  readonly #answered = new Set<string>();
  #user: Message | undefined;

  constructor(sent: readonly Message[], session: Session, trust: Trust) {
    const { pending } = session;
    this.#trust = trust;
    this.#waiting = new Set(pending.flatMap(({ id, kind }) => (kind === "tool" ? id : [])));
    this.#asked = new Set(pending.map(({ value }) => value.toolCallId));
    this.#questions = new Map(askedIn(session).map((call) => [call.id, call]));
    this.#readThread(withoutForged(session, trust.serverTools));
    this.#oldest = trust.isKnown ? endOfPruned(sent, session, this.#known) : sent.length;
  }

  take(message: Message, index: number): Message[] {
    if (message.role === "user") this.#user = message;
    switch (message.role) {
      case "system":
      case "developer":
        this.dropped.push(`${message.role} message "${message.id}"`);
        return [];
      case "assistant":
        return this.#takeCalls(message, index);
      case "tool":
        return this.#takeResult(message);
      default:
        return [message];
    }
  }

  #readThread(messages: readonly Message[]): void {
    let user: Message | undefined;
    for (const message of messages) {
      this.#known.set(message.id, message);
      if (message.role === "user") user = message;
      else if (message.role === "tool") this.#results.set(message.toolCallId, message);
      for (const call of callsIn(message)) this.#calls.set(call.id, { call, user });
    }
  }

  #takeCalls(message: Assistant, index: number): Message[] {
    const taken = withCalls(message, (call) => this.#takeCall(call, index));
    return taken ? [taken] : [];
  }

  #takeCall(call: Call, index: number): Call | undefined {
    const stored = this.#calls.get(call.id) ?? this.#restore(call);
    const made = stored?.call ?? call;
    if (this.#isServers(made) && !(stored && isSameTurn(stored.user, this.#user))) {
      this.#refused.add(call.id);
      this.dropped.push(describeCall(made));
      return undefined;
    }
    if (!stored) this.claimed.add(call.id);
    if (!this.#called.has(call.id)) this.#called.set(call.id, index);
    return made;
  }

  // A call that a person was asked about is the server's, also where the store has pruned it. The thread does not
  // learn arguments that a middleware hid from the client.
  #restore(call: Call): StoredCall | undefined {
    const asked = this.#questions.get(call.id);
    if (!asked) return undefined;
    const { name, arguments: text } = call.function;
    const isAsMade = name === asked.name && isEqualJson(parse(text), asked.args);
    const made = { ...call, function: { name: asked.name, arguments: "{}" } };
    return { call: isAsMade ? call : made, user: undefined };
  }

  #takeResult(message: ToolMessage): Message[] {
    const { toolCallId } = message;
    if (!this.#answered.has(toolCallId)) {
      const result = this.#resultOf(message);
      if (result) {
        this.#answered.add(toolCallId);
        return [result];
      }
    }
    this.dropped.push(`result "${message.id}" of the call "${toolCallId}"`);
    return [];
  }

  #resultOf(message: ToolMessage): ToolMessage | undefined {
    const { toolCallId } = message;
    const stored = this.#calls.get(toolCallId);
    const place = this.#called.get(toolCallId);
    // Sent back as the thread has it: a result is not changed afterwards. Some clients keep no id of it.
    const same = this.#known.get(message.id);
    const isSame = same?.role === "tool" && same.toolCallId === toolCallId;
    const seen = isSame ? same : this.#results.get(toolCallId);
    if (stored && this.#isServers(stored.call)) return place === undefined ? undefined : seen;
    if (this.#refused.has(toolCallId)) return undefined;
    if (seen) return seen;
    if (this.#asked.has(toolCallId)) return undefined;
    if (this.#waiting.has(toolCallId)) return message;
    return place !== undefined && place <= this.#oldest ? message : undefined;
  }

  #isServers({ function: { name } }: Call): boolean {
    return this.#trust.serverTools.has(name);
  }
}

/** The calls that the thread waits to be allowed to make. */
export function askedIn({ pending }: Session): readonly AskedCall[] {
  return pending.flatMap(({ value }) => (value as { call?: AskedCall }).call ?? []);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text || "{}") as unknown;
  } catch {
    return undefined;
  }
}

// A result that the server stored in one turn is not moved to another. The user message may have been pruned
// here or left out there, and a client without ids sends the same text.
function isSameTurn(stored: Message | undefined, sent: Message | undefined): boolean {
  if (!stored || !sent || stored.id === sent.id) return true;
  return isEqualJson(stored.content, sent.content);
}

// A client that sends the whole history also sends messages that the store has pruned: they precede the
// remaining ones.
function endOfPruned(
  sent: readonly Message[],
  { pruned }: Session,
  known: ReadonlyMap<string, Message>,
): number {
  if (!pruned) return -1;
  const first = sent.findIndex(({ id }) => known.has(id));
  if (first !== -1) return first - 1;
  const last = sent.findIndex(({ id }) => id === pruned.lastId);
  return last === -1 ? sent.length : last;
}
