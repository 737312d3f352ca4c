import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { tooDeep, tooLarge, tooMany } from "./budget-error.ts";
import { asData, dataBytes, ExactCount } from "./exact-count.ts";
import { isNestedTooDeep } from "./nested-too-deep.ts";
import { jsonBytes } from "../../json/bytes.ts";
import { sizeOf } from "../../json/size.ts";
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

// A character of JSON text takes at most six bytes.
const worst = 6;
// For what the user writes next.
const maxReserve = 256 * 1024;
// For the messages of a few short turns.
const maxKept = 10;
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
    // Beyond the bound of its log a run is not kept as a whole, and cannot be counted.
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

  /**
   * Anything but a delta that was spent. Returns its size if it was measured. Throws when the client could not
   * send it back.
   */
  take(event: BaseEvent, state: { readonly value: unknown }): number | undefined {
    if (!kept.has(event.type) && !(this.#keepsData && asData.has(event.type))) return undefined;
    const { jsonDepth } = this.#limits;
    if (isNestedTooDeep(event, { jsonDepth, keepsData: this.#keepsData, state })) {
      throw tooDeep(event.type, jsonDepth);
    }
    const isSnapshot = event.type === EventType.MESSAGES_SNAPSHOT;
    if (isSnapshot) this.#recount(event.messages as Message[]);
    // A snapshot replaces nothing in a client that has it as parts, so what it has is counted before.
    if (!this.#exact && !(isSnapshot && this.#keepsData)) {
      const size = sizeOf(event);
      if (size <= this.#room) {
        this.#room -= size;
        if (asData.has(event.type)) this.#data += dataBytes(event);
        return size;
      }
    }
    this.#exact ??= this.#countExactly(state.value);
    this.#room = -1;
    this.#takeExactly(this.#exact, event, state);
    return undefined;
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
    const counted = messages.filter(({ role }) => role !== "activity").length;
    this.#count = kept + counted + this.#awaited;
    if (this.#count > this.#maxMessages) throw tooMany(this.#limits.messages);
  }
}

function isThought({ role }: Message): boolean {
  return role === "reasoning";
}
