// Longer than our usual file: one class, since every rule for parts reads and changes the same records.
import { EventType } from "@ag-ui/core";
import type { Message } from "@ag-ui/core";
import type { CallOrigins } from "../calls/earlier-calls.ts";
import type { BegunParts } from "./begun-parts.ts";
import type { EventSink, LooseEvent } from "../shapes.ts";
import { kinds, partKinds } from "./known.ts";
import type { IdRecord, Owner, OwnerOf, PartKind, UnclosedPart } from "./known.ts";
import { settleParent, withTag } from "./owners.ts";
import { PartRecords } from "./part-records.ts";
import { withoutTakenParts } from "./taken-parts.ts";
import type { TakenParts } from "./taken-parts.ts";
import { BudgetError } from "../history/budget-error.ts";
import type { HistoryBudget } from "../history/history-budget.ts";
import { ulid } from "../../base/ids.ts";

// A span has no content.
type DeltaKind = Exclude<PartKind, "span">;

const none: readonly string[] = [];
const callKinds: readonly PartKind[] = ["tool"];
const messageKinds: readonly PartKind[] = ["text", "reasoning"];

interface PartsOptions {
  readonly calls?: CallOrigins | undefined;
  readonly budget?: HistoryBudget | undefined;
  readonly begins?: BegunParts | undefined;
  readonly begun?: BegunParts | undefined;
}

/**
 * The open parts of a run and the owners of everything it has named. Keeps the rules of everything
 * that has a start, a content and an end.
 */
export class PartRepairs implements TakenParts {
  readonly origins: CallOrigins | undefined;
  readonly #exit: EventSink;
  readonly #records = new PartRecords();
  readonly #budget: HistoryBudget | undefined;
  readonly #begins: BegunParts | undefined;
  readonly #begun: BegunParts | undefined;
  #calls: Set<string> | undefined;
  #answered: Set<string> | undefined;

  constructor(exit: EventSink, { budget, begins, begun, calls }: PartsOptions) {
    this.#exit = exit;
    this.origins = calls;
    this.#budget = budget;
    this.#begins = begins;
    this.#begun = begun;
  }

  isOpen(kind: PartKind, id: string): boolean {
    return Boolean(this.#records.find(id)?.[kind]);
  }

  /** The name a tool call was started with. */
  callName(id: string): string | undefined {
    return this.#records.find(id)?.callName;
  }

  hasOwner(kind: PartKind, id: string): boolean {
    return this.#records.ownerOf(kinds[kind].owner, id) !== null;
  }

  ownerOf(kind: PartKind, id: string): Owner {
    return this.#records.ownerOf(kinds[kind].owner, id) ?? undefined;
  }

  /** The first of the parts that are open. */
  get oldest(): UnclosedPart | undefined {
    return this.#records.oldest;
  }

  /** True when a reasoning span of this owner is open. */
  isReasoning(owner: Owner): boolean {
    return this.#records.latest("span", owner) !== undefined;
  }

  /** The start or the end of a part. False: the event is neither. */
  push(event: LooseEvent): boolean {
    for (const kind of partKinds) {
      const { start, end } = kinds[kind];
      if (event.type === start) this.start(kind, event);
      else if (event.type === end) this.end(kind, event);
      else continue;
      return true;
    }
    return false;
  }

  /** A start event, made by the agent or by the guard itself. */
  start(kind: PartKind, event: LooseEvent, ours = false): void {
    const { key, owner: field } = kinds[kind];
    const known = this.#records.know(event[key]!);
    if (known[kind]) return this.#exit.repair("duplicate-start");
    let opener = this.#retag(event, field, known.id);
    let owner = opener.subagentRunId;
    if (kind === "tool") {
      opener = settleParent(opener, this.#records, this.#exit);
      const parent = opener.parentMessageId;
      if (parent !== undefined)
        owner ??= this.#records.ownerOf("messageOwner", parent) ?? undefined;
      known.callName = opener.toolCallName!;
      (this.#calls ??= new Set()).add(known.id);
    }
    if (known[field] === null) known[field] = owner;
    if (this.#budget && kind !== "span") this.#count(kind, opener.parentMessageId, known);
    this.#begins?.add(kind, known.id);
    const part = this.#records.open(known, kind, ours);
    try {
      this.#exit.send(opener);
    } catch (reason) {
      // Nothing was sent, so there is nothing to end.
      if (reason instanceof BudgetError) this.#records.shut(part);
      throw reason;
    }
  }

  /** A content event; opens what is not open. Returns the id it went to. */
  proceed(kind: DeltaKind, event: LooseEvent): string {
    const { key, owner: field } = kinds[kind];
    const whole = this.#identify(kind, event);
    const id = whole[key]!;
    const known = this.#records.find(id);
    if (!known?.[kind]) {
      if (this.isTaken(kind, id)) return id;
      this.#exit.repair(known?.[kind] === null ? "reopened" : "not-started");
      const owner = this.#records.ownerOf(field, id);
      this.start(kind, this.#opening(kind, id, owner === null ? event.subagentRunId : owner), true);
    }
    this.#exit.send(this.#retag(whole, field, id));
    return id;
  }

  end(kind: PartKind, event: LooseEvent): void {
    const { key, owner: field } = kinds[kind];
    const id = event[key] ?? this.#records.latest(kind, event.subagentRunId);
    const part = id === undefined ? undefined : this.#records.find(id)?.[kind];
    if (!part) {
      if (id === undefined || !this.isTaken(kind, id)) this.#exit.repair("not-open");
      return;
    }
    const closer = this.#retag(this.#identify(kind, event), field, part.known.id);
    this.#records.shut(part);
    this.#exit.send(closer);
  }

  /** Ends a part on behalf of the guard, if it is open. */
  close(kind: PartKind, id: string): void {
    const part = this.#records.find(id)?.[kind];
    if (!part) return;
    this.#records.shut(part);
    const { end: type, key } = kinds[kind];
    this.#exit.send(withTag(named(type, key, id), this.ownerOf(kind, id)));
  }

  /**
   * A tool result, an activity or an encrypted value, attributed as its predecessors were. Nothing when it
   * belongs to what a middleware took out.
   */
  attribute(event: LooseEvent): LooseEvent | undefined {
    const id = event.messageId!;
    const tag = event.subagentRunId;
    switch (event.type) {
      case EventType.TOOL_CALL_RESULT:
        if (this.isTaken("tool", event.toolCallId!)) return undefined;
        // Creates its own message, and the tool need not have run where it was called.
        (this.#answered ??= new Set()).add(event.toolCallId!);
        this.#records.know(id).messageOwner = tag;
        if (this.#budget && !this.#settleCount(this.#budget, event.toolCallId!)) {
          this.#budget.begin(false);
        }
        return event;
      case EventType.ACTIVITY_SNAPSHOT:
        if (event.replace !== false || this.#records.ownerOf("activityOwner", id) === null) {
          this.#records.know(id).activityOwner = tag;
        }
        return event;
      case EventType.ACTIVITY_DELTA:
        return this.#retag(event, "activityOwner", id);
      default: {
        const entity = event.entityId!;
        const kinds = event.subtype === "tool-call" ? callKinds : messageKinds;
        if (kinds.some((kind) => this.isTaken(kind, entity))) return undefined;
        if (event.subtype === "tool-call") return this.#retag(event, "toolOwner", entity);
        const isMessage = this.#records.ownerOf("messageOwner", entity) !== null;
        return this.#retag(event, isMessage ? "messageOwner" : "reasoningOwner", entity);
      }
    }
  }

  /** A snapshot restates who owns the messages and calls in it. Returns it without what was taken out. */
  learn(event: LooseEvent): LooseEvent {
    if (!Array.isArray(event.messages)) return event;
    const sent = event.messages as readonly Message[];
    const messages = this.#begun ? sent.flatMap((one) => withoutTakenParts(one, this)) : sent;
    this.#learn(messages);
    const isWhole =
      messages.length === sent.length && messages.every((one, at) => one === sent[at]);
    return isWhole ? event : { ...event, messages };
  }

  #learn(messages: readonly Message[]): void {
    for (const message of messages) {
      const { id, role, subagentRunId } = message;
      const known = this.#records.know(id);
      known.isMessage = true;
      if (role === "reasoning") known.reasoningOwner = subagentRunId;
      else if (role === "activity") known.activityOwner = subagentRunId;
      else known.messageOwner = subagentRunId;
      if (message.role === "tool") {
        (this.#answered ??= new Set()).add(message.toolCallId);
        if (this.#budget) this.#settleCount(this.#budget, message.toolCallId);
      }
      if (!("toolCalls" in message)) continue;
      for (const call of message.toolCalls ?? []) {
        const knownCall = this.#records.know(call.id);
        knownCall.toolOwner = subagentRunId;
        knownCall.callName = call.function.name;
        // What the thread had before is no call of this run.
        if (this.origins?.earlierCalls().has(call.id) === false)
          (this.#calls ??= new Set()).add(call.id);
      }
    }
  }

  /** Calls that were made here, have no result and are for the client to answer, in order. */
  pendingCalls(): readonly string[] {
    if (!this.#calls) return none;
    return [...this.#calls].filter((id) => {
      if (this.isAnswered(id) || this.origins?.earlierCalls().isAnswered(id)) return false;
      return this.origins?.isClientTool(this.callName(id)!) !== false;
    });
  }

  /** Whether there is such a call, in this run or before it. */
  hasCall(id: string): boolean {
    return this.callName(id) !== undefined || this.origins?.earlierCalls().has(id) !== false;
  }

  /** Whether this run has a result of the call. */
  isAnswered(id: string): boolean {
    return this.#answered?.has(id) ?? false;
  }

  /** Whether a call was started, and not only brought by a snapshot. */
  hasStarted(id: string): boolean {
    return this.#records.find(id)?.tool !== undefined;
  }

  /** The agent began it, and nothing of it came through the middleware. */
  isTaken(kind: PartKind, id: string): boolean {
    return this.#begun?.has(kind, id) === true && this.#records.find(id)?.[kind] === undefined;
  }

  // A call is in its parent, or in a message that has no text.
  #count(kind: DeltaKind, parent: string | undefined, known: IdRecord): void {
    const message = kind === "tool" && parent !== undefined ? this.#records.know(parent) : known;
    if (!message.isMessage) {
      this.#budget!.begin(kind === "reasoning");
      message.isMessage = true;
    }
    const isFirst = kind === "tool" && known.tool === undefined;
    if (!isFirst || this.origins?.isClientTool(known.callName!) === false) return;
    // The client adds its result to what it sends next.
    this.#budget!.await();
    known.isAwaited = true;
  }

  // False when the result was not counted with its call.
  #settleCount(budget: HistoryBudget, callId: string): boolean {
    const call = this.#records.find(callId);
    if (!call?.isAwaited) return false;
    call.isAwaited = false;
    budget.answered();
    return true;
  }

  #identify(kind: PartKind, event: LooseEvent): LooseEvent {
    const { key } = kinds[kind];
    if (event[key] !== undefined) return event;
    this.#exit.repair("missing-field");
    const whole: LooseEvent = { ...event };
    whole[key] = this.#records.latest(kind, event.subagentRunId) ?? ulid();
    return whole;
  }

  #opening(kind: DeltaKind, id: string, owner: Owner): LooseEvent {
    const type = kinds[kind].start;
    if (kind === "tool") {
      const toolCallName = this.callName(id) ?? "unknown";
      return withTag({ type, toolCallId: id, toolCallName }, owner);
    }
    const role = kind === "text" ? "assistant" : "reasoning";
    return withTag({ type, messageId: id, role }, owner);
  }

  #retag(event: LooseEvent, field: OwnerOf, id: string): LooseEvent {
    const tag = event.subagentRunId;
    if (tag === undefined) return event;
    const owner = this.#records.ownerOf(field, id);
    if (owner === null || owner === tag) return event;
    this.#exit.repair("wrong-owner");
    return withTag(event, owner);
  }
}

/** An event that has nothing but the id of what it is about. */
function named(type: EventType, key: "messageId" | "toolCallId", id: string): LooseEvent {
  return key === "messageId" ? { type, messageId: id } : { type, toolCallId: id };
}
