// Longer than our usual file: one count of one body, in two steps.
import { EventType } from "@ag-ui/core";
import type { BaseEvent, JsonPatchOperation, Message } from "@ag-ui/core";
import { isDeeperThan, jsonBytes, textBytes } from "../../json/bytes.ts";
import { sizeOfEvent } from "../../delta/event-size.ts";
import type { Limits } from "../../contract/limits.ts";

/** What a client sends with every request, so that the next one fits the same limits. */
export interface SentHistory {
  /** The bytes of its last body. */
  readonly bytes: number;
  /** How many messages were in it. */
  readonly messages: number;
  /** Whether it keeps custom events and state in its messages. */
  readonly keepsData: boolean;
}

/** The run whose client has to send back what it receives. */
export interface BudgetedRun {
  /** What the client sent. */
  readonly sent: { readonly messages: readonly Message[]; readonly state?: unknown };
  /** The conversation so far, and events that are not in it yet; absent where some of it was not kept. */
  held(): { messages: readonly Message[]; events: readonly BaseEvent[] } | undefined;
}

/** Why something cannot be sent. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code: "event-too-large" | "history-too-large";

  constructor(code: BudgetError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

// A character of JSON text takes at most six bytes.
const worst = 6;
// For what the user writes next.
const maxReserve = 256 * 1024;
// For the messages of a few short turns.
const maxKept = 10;
// A message or a call without its texts, in the widest of the clients' formats.
const perPart = 256;
// Where a payload stands in a body: in it, its messages, one of them, and for data a part in a list of those.
const stateLevels = 2;
const dataLevels = 5;

const kept: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_START,
  EventType.TEXT_MESSAGE_CONTENT,
  EventType.TEXT_MESSAGE_END,
  EventType.REASONING_MESSAGE_START,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_END,
  EventType.REASONING_ENCRYPTED_VALUE,
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_END,
  EventType.TOOL_CALL_RESULT,
  EventType.ACTIVITY_SNAPSHOT,
  EventType.ACTIVITY_DELTA,
  EventType.MESSAGES_SNAPSHOT,
  EventType.STATE_SNAPSHOT,
  EventType.STATE_DELTA,
]);

// Where a client keeps data, these are parts of its messages.
const asData: ReadonlySet<string> = new Set([
  EventType.CUSTOM,
  EventType.STEP_STARTED,
  EventType.STEP_FINISHED,
  EventType.SUBAGENT_STARTED,
  EventType.SUBAGENT_FINISHED,
  EventType.SUBAGENT_ERROR,
]);

/**
 * What a run may still send to a client that keeps the conversation itself: the next request has to fit
 * `bodyBytes`, `jsonDepth` and `messages`. Most runs are far from all of them, which a count of characters
 * shows; the bytes are counted from where that is not enough.
 */
export class HistoryBudget {
  readonly #run: BudgetedRun;
  readonly #limits: Limits;
  readonly #keepsData: boolean;
  readonly #sentBytes: number;
  readonly #maxBytes: number;
  readonly #maxMessages: number;
  #count: number;
  #thoughts = 0;
  /** Results that the client has to add, and that are counted. */
  #awaited = 0;
  /** The bytes of what a client keeps as data. */
  #data = 0;
  /** Characters that fit whatever they are. */
  #room: number;
  #exact: ExactCount | undefined = undefined;

  constructor(run: BudgetedRun, sent: SentHistory, limits: Limits) {
    const { bodyBytes, messages, runLogBytes } = limits;
    this.#run = run;
    this.#limits = limits;
    this.#keepsData = sent.keepsData;
    this.#sentBytes = sent.bytes;
    // The nearer the limit, the less is kept back: a last short answer is better than none.
    const reserve = Math.min(maxReserve, bodyBytes / 16, Math.max(0, bodyBytes - sent.bytes) / 2);
    this.#maxBytes = bodyBytes - reserve;
    // Beyond the bound of its log a run is not kept as a whole, and could not be counted any more.
    // A whole number: a fraction would be a new object for every delta.
    this.#room = Math.floor(Math.min((this.#maxBytes - sent.bytes) / worst, runLogBytes / 2));
    this.#count = sent.messages;
    const left = messages - this.#count;
    // A client that is at the limit already cannot go on, whatever it receives.
    const kept = Math.min(maxKept, Math.ceil(messages / 4), Math.ceil(left / 2));
    this.#maxMessages = left <= 0 ? Infinity : messages - kept;
  }

  /** Whether a delta fits at a glance. If not, it takes a closer look: `take`. */
  spend(delta: string): boolean {
    const room = this.#room - delta.length;
    if (room < 0) return false;
    this.#room = room;
    return true;
  }

  /** A message that the client does not have yet. Throws when there are too many. */
  begin(isThought: boolean): void {
    if (this.#count >= this.#maxMessages) throw tooMany(this.#limits.messages);
    this.#count++;
    if (isThought) this.#thoughts++;
  }

  /** A call that the client answers: its next request has the result. Throws when there are too many. */
  await(): void {
    this.begin(false);
    this.#awaited++;
  }

  /** Such a call has its result. */
  answered(): void {
    this.#awaited--;
  }

  /** Anything but a delta that was spent. Throws when the client could not send it back. */
  take(event: BaseEvent, state: { readonly value: unknown }): void {
    if (!kept.has(event.type) && !(this.#keepsData && asData.has(event.type))) return;
    this.#checkDepth(event, state);
    const isSnapshot = event.type === EventType.MESSAGES_SNAPSHOT;
    if (isSnapshot) this.#recount(event.messages as Message[]);
    // A snapshot replaces nothing in a client that has it as parts, so what it has is counted before.
    if (!this.#exact && !(isSnapshot && this.#keepsData)) {
      const chars = this.#room - sizeOfEvent(event);
      if (chars >= 0) {
        this.#room = chars;
        if (asData.has(event.type)) this.#data += dataBytes(event);
        return;
      }
    }
    this.#exact ??= this.#countExactly(state.value);
    this.#room = -1;
    this.#takeExactly(this.#exact, event, state);
  }

  #takeExactly(exact: ExactCount, event: BaseEvent, state: { readonly value: unknown }): void {
    exact.add(event);
    if (exact.total <= this.#maxBytes) return;
    // Some of it may have been replaced since.
    exact.state = jsonBytes(state.value);
    if (exact.total <= this.#maxBytes) return;
    const held = this.#keepsData ? undefined : this.#run.held();
    if (held) exact.recount(held, event);
    if (exact.total > this.#maxBytes) throw tooLarge(this.#limits.bodyBytes);
  }

  #countExactly(state: unknown): ExactCount {
    const { sent } = this.#run;
    const exact = new ExactCount(this.#keepsData);
    const before = jsonBytes(sent.messages) + jsonBytes(sent.state);
    exact.rest = Math.max(0, this.#sentBytes - before);
    exact.state = jsonBytes(state);
    exact.custom = this.#data;
    const held = this.#run.held();
    if (held) exact.recount(held, undefined);
    else exact.messages = Infinity;
    return exact;
  }

  #recount(messages: readonly Message[]): void {
    const hasThoughts = messages.some(({ role }) => role === "reasoning");
    const kept = hasThoughts
      ? 0
      : this.#thoughts + this.#run.sent.messages.filter(isThought).length;
    const spoken = messages.filter(({ role }) => role !== "activity").length;
    this.#count = kept + spoken + this.#awaited;
    if (this.#count > this.#maxMessages) throw tooMany(this.#limits.messages);
  }

  #checkDepth(event: BaseEvent, state: { readonly value: unknown }): void {
    const { jsonDepth } = this.#limits;
    const stateDepth = jsonDepth - (this.#keepsData ? dataLevels : stateLevels);
    const dataDepth = jsonDepth - dataLevels;
    if (
      isDeeperThan(event.metadata, dataDepth) ||
      isPayloadDeep(event, { stateDepth, dataDepth, state })
    ) {
      throw tooDeep(event.type, jsonDepth);
    }
  }
}

interface Depths {
  readonly stateDepth: number;
  readonly dataDepth: number;
  readonly state: { readonly value: unknown };
}

function isPayloadDeep(event: BaseEvent, depths: Depths): boolean {
  const { stateDepth, dataDepth, state } = depths;
  switch (event.type) {
    case EventType.STATE_SNAPSHOT:
      return isDeeperThan(event.snapshot, stateDepth);
    case EventType.STATE_DELTA: {
      const patch = event.delta as readonly JsonPatchOperation[];
      // What was there already is found deeper only by moving it.
      const moves = patch.some(({ op }) => op === "move" || op === "copy");
      return moves ? isDeeperThan(state.value, stateDepth) : isPatchDeep(patch, stateDepth);
    }
    case EventType.ACTIVITY_DELTA:
      return isPatchDeep(event.patch as readonly JsonPatchOperation[], dataDepth);
    case EventType.MESSAGES_SNAPSHOT:
      return isDeeperThan(event.messages, dataDepth + 1);
    case EventType.CUSTOM:
      return isDeeperThan(event.value, dataDepth);
    default:
      return isDeeperThan(event.content, dataDepth) || isDeeperThan(event.result, dataDepth - 1);
  }
}

function isPatchDeep(patch: readonly JsonPatchOperation[], levels: number): boolean {
  return patch.some((operation) => {
    if (!("value" in operation)) return false;
    const above = operation.path.split("/").length - 1;
    return isDeeperThan(operation.value, levels - above);
  });
}

/** The next body, part by part. */
class ExactCount {
  /** What is neither state nor a message. */
  rest = 0;
  messages = 0;
  state = 0;
  custom = 0;
  readonly #keepsData: boolean;
  #activities: Map<string, number> | undefined;
  #ids: Set<string> | undefined;

  constructor(keepsData: boolean) {
    this.#keepsData = keepsData;
  }

  get total(): number {
    return this.rest + this.messages + this.state + this.custom;
  }

  add(event: BaseEvent): void {
    switch (event.type) {
      case EventType.STATE_SNAPSHOT:
        this.state = jsonBytes(event.snapshot);
        return;
      case EventType.STATE_DELTA:
        this.state += jsonBytes(event.delta);
        return;
      case EventType.ACTIVITY_SNAPSHOT:
        return this.#replaceActivity(event);
      case EventType.MESSAGES_SNAPSHOT:
        this.messages += this.#keepsData
          ? this.#newIn(event.messages as Message[])
          : bytesOf(event);
        return;
      default:
        if (asData.has(event.type)) this.custom += dataBytes(event);
        else this.messages += bytesOf(event);
    }
  }

  #replaceActivity(event: BaseEvent): void {
    const activities = (this.#activities ??= new Map());
    const id = event.messageId as string;
    const bytes = bytesOf(event);
    this.messages += bytes - (activities.get(id) ?? 0);
    activities.set(id, bytes);
  }

  // Each is a part of the client's message once.
  #newIn(messages: readonly Message[]): number {
    const ids = (this.#ids ??= new Set());
    let bytes = 0;
    for (const message of messages) {
      if (!ids.has(message.id)) bytes += 2 * perPart + message.id.length + jsonBytes(message);
      ids.add(message.id);
    }
    return bytes;
  }

  /** Counts the messages again; those of a snapshot stand for all before it but thoughts and activities. */
  recount(
    held: { messages: readonly Message[]; events: readonly BaseEvent[] },
    last: BaseEvent | undefined,
  ): void {
    const events = last ? [...held.events, last] : held.events;
    const at = events.map(({ type }) => type).lastIndexOf(EventType.MESSAGES_SNAPSHOT);
    const stays = ({ role }: Message): boolean => at === -1 || role === "reasoning";
    this.messages = 0;
    for (const message of held.messages) {
      if (message.role === "activity" ? this.#keepsData : stays(message)) {
        this.messages += 1 + jsonBytes(message) + (this.#keepsData ? perPart : 0);
      }
    }
    for (const event of events.slice(Math.max(0, at))) this.messages += bytesOf(event);
  }
}

function bytesOf(event: BaseEvent): number {
  const { metadata } = event;
  const more = metadata === undefined ? 0 : jsonBytes(metadata);
  switch (event.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.REASONING_MESSAGE_CONTENT:
    case EventType.TOOL_CALL_ARGS:
      return more + textBytes(event.delta as string);
    case EventType.TEXT_MESSAGE_START:
    case EventType.REASONING_MESSAGE_START:
    case EventType.TOOL_CALL_START:
      return more + perPart + 2 * jsonBytes(event);
    case EventType.TOOL_CALL_RESULT:
      return more + perPart + 2 * jsonBytes(event.toolCallId) + jsonBytes(event);
    case EventType.ACTIVITY_SNAPSHOT:
      return more + perPart + jsonBytes(event);
    case EventType.ACTIVITY_DELTA:
      return more + jsonBytes(event.patch);
    case EventType.REASONING_ENCRYPTED_VALUE:
      return more + jsonBytes(event.encryptedValue);
    case EventType.MESSAGES_SNAPSHOT:
      return jsonBytes(event.messages);
    default:
      return 0;
  }
}

function dataBytes(event: BaseEvent): number {
  return perPart + 2 * jsonBytes(event);
}

function isThought({ role }: Message): boolean {
  return role === "reasoning";
}

function tooMany(limit: number): BudgetError {
  return new BudgetError(
    "history-too-large",
    `The conversation has too many messages to be sent back: limits.messages is ${limit}.`,
  );
}

function tooLarge(limit: number): BudgetError {
  return new BudgetError(
    "history-too-large",
    `The conversation is too large to be sent back: limits.bodyBytes is ${limit}.`,
  );
}

function tooDeep(type: string, limit: number): BudgetError {
  return new BudgetError(
    "event-too-large",
    `One ${type} event is nested too deep to be sent back: limits.jsonDepth is ${limit}.`,
  );
}
