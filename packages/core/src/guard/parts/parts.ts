import { EventType } from "@ag-ui/core";
import type { Message } from "@ag-ui/core";
import type { CallOrigins } from "../calls/earlier-calls.ts";
import type { BegunParts } from "./begun-parts.ts";
import type { EventSink, LooseEvent } from "../shapes.ts";
import { kinds, IdRecord } from "./known.ts";
import type { UnclosedPart, Owner, OwnerOf, PartKind } from "./known.ts";
import { BudgetError } from "../history/history-budget.ts";
import type { HistoryBudget } from "../history/history-budget.ts";
import { ulid } from "../../base/ids.ts";

// A span has no content of its own.
type SpokenKind = Exclude<PartKind, "span">;

const none: readonly string[] = [];
const callKinds: readonly PartKind[] = ["tool"];
const messageKinds: readonly PartKind[] = ["text", "reasoning"];
const closingOrder = ["text", "reasoning", "span", "tool"] as const;

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
export class PartRepairs {
  readonly origins: CallOrigins | undefined;
  readonly #exit: EventSink;
  readonly #budget: HistoryBudget | undefined;
  readonly #begins: BegunParts | undefined;
  readonly #begun: BegunParts | undefined;
  // Many a run names one thing only, which needs no map.
  #first: IdRecord | undefined;
  #others: Map<string, IdRecord> | undefined;
  #oldest: UnclosedPart | undefined;
  #newest: UnclosedPart | undefined;
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
    return Boolean(this.#find(id)?.[kind]);
  }

  /** The name a tool call was started with. */
  callName(id: string): string | undefined {
    return this.#find(id)?.callName;
  }

  hasOwner(kind: PartKind, id: string): boolean {
    return this.#ownerOf(kinds[kind].owner, id) !== null;
  }

  ownerOf(kind: PartKind, id: string): Owner {
    return this.#ownerOf(kinds[kind].owner, id) ?? undefined;
  }

  /** True when a reasoning span of this owner is open. */
  isReasoning(owner: Owner): boolean {
    return this.#latest("span", owner) !== undefined;
  }

  /** A start event, made by the agent or by the guard itself. */
  start(kind: PartKind, event: LooseEvent, ours = false): void {
    const { key, owner: field } = kinds[kind];
    const known = this.#know(event[key]!);
    if (known[kind]) return this.#exit.repair("duplicate-start");
    let opener = this.#retag(event, field, known.id);
    let owner = opener.subagentRunId;
    if (kind === "tool") {
      opener = this.#settleParent(opener);
      const parent = opener.parentMessageId;
      if (parent !== undefined) owner ??= this.#ownerOf("messageOwner", parent) ?? undefined;
      known.callName = opener.toolCallName!;
      (this.#calls ??= new Set()).add(known.id);
    }
    if (known[field] === null) known[field] = owner;
    if (this.#budget && kind !== "span") this.#count(kind, opener.parentMessageId, known);
    this.#begins?.add(kind, known.id);
    const part = this.#open(known, kind, ours);
    try {
      this.#exit.send(opener);
    } catch (reason) {
      // Nothing was sent, so there is nothing to end.
      if (reason instanceof BudgetError) this.#shut(part);
      throw reason;
    }
  }

  /** A content event; opens what is not open. Returns the id it went to. */
  proceed(kind: SpokenKind, event: LooseEvent): string {
    const { key, owner: field } = kinds[kind];
    const whole = this.#identify(kind, event);
    const id = whole[key]!;
    const known = this.#find(id);
    if (!known?.[kind]) {
      if (this.#isTaken(kind, id)) return id;
      this.#exit.repair(known?.[kind] === null ? "reopened" : "not-started");
      const owner = this.#ownerOf(field, id);
      this.start(kind, this.#opening(kind, id, owner === null ? event.subagentRunId : owner), true);
    }
    this.#exit.send(this.#retag(whole, field, id));
    return id;
  }

  end(kind: PartKind, event: LooseEvent): void {
    const { key, owner: field } = kinds[kind];
    const id = event[key] ?? this.#latest(kind, event.subagentRunId);
    const part = id === undefined ? undefined : this.#find(id)?.[kind];
    if (!part) {
      if (id === undefined || !this.#isTaken(kind, id)) this.#exit.repair("not-open");
      return;
    }
    const closer = this.#retag(this.#identify(kind, event), field, part.known.id);
    this.#shut(part);
    this.#exit.send(closer);
  }

  /** Ends a part on behalf of the guard, if it is open. */
  close(kind: PartKind, id: string): void {
    const part = this.#find(id)?.[kind];
    if (!part) return;
    this.#shut(part);
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
        if (this.#isTaken("tool", event.toolCallId!)) return undefined;
        // Makes the message anew, and who ran the tool need not be who called it.
        (this.#answered ??= new Set()).add(event.toolCallId!);
        this.#know(id).messageOwner = tag;
        if (this.#budget && !this.#settleCount(this.#budget, event.toolCallId!)) {
          this.#budget.begin(false);
        }
        return event;
      case EventType.ACTIVITY_SNAPSHOT:
        if (event.replace !== false || this.#ownerOf("activityOwner", id) === null) {
          this.#know(id).activityOwner = tag;
        }
        return event;
      case EventType.ACTIVITY_DELTA:
        return this.#retag(event, "activityOwner", id);
      default: {
        const entity = event.entityId!;
        const kinds = event.subtype === "tool-call" ? callKinds : messageKinds;
        if (kinds.some((kind) => this.#isTaken(kind, entity))) return undefined;
        if (event.subtype === "tool-call") return this.#retag(event, "toolOwner", entity);
        const isMessage = this.#ownerOf("messageOwner", entity) !== null;
        return this.#retag(event, isMessage ? "messageOwner" : "reasoningOwner", entity);
      }
    }
  }

  /** A snapshot restates who owns the messages and calls in it. Returns it without what was taken out. */
  learn(event: LooseEvent): LooseEvent {
    if (!Array.isArray(event.messages)) return event;
    const sent = event.messages as readonly Message[];
    const messages = this.#begun ? sent.flatMap((one) => this.#withoutTaken(one)) : sent;
    this.#learn(messages);
    const isWhole =
      messages.length === sent.length && messages.every((one, at) => one === sent[at]);
    return isWhole ? event : { ...event, messages };
  }

  /** The end of a run without the calls that were taken out. */
  withoutTaken(event: LooseEvent): LooseEvent {
    const outcome = event.outcome as { pendingToolCallIds?: readonly string[] } | undefined;
    const ids = outcome?.pendingToolCallIds;
    if (!ids?.some((id) => this.#isTaken("tool", id))) return event;
    const pendingToolCallIds = ids.filter((id) => !this.#isTaken("tool", id));
    return { ...event, outcome: { ...outcome, pendingToolCallIds } };
  }

  #learn(messages: readonly Message[]): void {
    for (const message of messages) {
      const { id, role, subagentRunId } = message;
      const known = this.#know(id);
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
        const knownCall = this.#know(call.id);
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
    return this.#find(id)?.tool !== undefined;
  }

  /** Ends everything. `isFault`: the agent should have ended what it started. */
  closeAll(isFault: boolean): void {
    for (const kind of closingOrder) {
      for (let part = this.#oldest; part; part = part.newer) {
        if (part.kind !== kind || part.known[kind] !== part) continue;
        if (isFault && !part.ours) this.#exit.repair("left-open");
        this.close(kind, part.known.id);
      }
    }
  }

  // The agent began it, and nothing of it came through the middleware.
  #isTaken(kind: PartKind, id: string): boolean {
    return this.#begun?.has(kind, id) === true && this.#find(id)?.[kind] === undefined;
  }

  #withoutTaken(message: Message): Message[] {
    const { id, role } = message;
    if (role === "tool") return this.#isTaken("tool", message.toolCallId) ? [] : [message];
    const kind = role === "reasoning" ? "reasoning" : "text";
    const isTaken = role !== "activity" && this.#isTaken(kind, id);
    if (role !== "assistant" || !message.toolCalls) return isTaken ? [] : [message];
    const calls = message.toolCalls.filter((call) => !this.#isTaken("tool", call.id));
    if (!isTaken && calls.length === message.toolCalls.length) return [message];
    const { toolCalls: _, content, ...rest } = message;
    const text = isTaken || content === undefined ? {} : { content };
    if (calls.length === 0 && !text.content) return [];
    return [{ ...rest, ...text, ...(calls.length > 0 && { toolCalls: calls }) }];
  }

  // A call is in its parent, or in a message that has no text.
  #count(kind: SpokenKind, parent: string | undefined, known: IdRecord): void {
    const message = kind === "tool" && parent !== undefined ? this.#know(parent) : known;
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
    const call = this.#find(callId);
    if (!call?.isAwaited) return false;
    call.isAwaited = false;
    budget.answered();
    return true;
  }

  #find(id: string): IdRecord | undefined {
    return this.#first?.id === id ? this.#first : this.#others?.get(id);
  }

  #know(id: string): IdRecord {
    const found = this.#find(id);
    if (found) return found;
    const known = new IdRecord(id);
    if (this.#first) (this.#others ??= new Map()).set(id, known);
    else this.#first = known;
    return known;
  }

  #ownerOf(field: OwnerOf, id: string): Owner | null {
    const known = this.#find(id);
    return known ? known[field] : null;
  }

  #open(known: IdRecord, kind: PartKind, ours: boolean): UnclosedPart {
    const older = this.#newest;
    const part: UnclosedPart = { kind, known, ours, older, newer: undefined };
    if (older) older.newer = part;
    else this.#oldest = part;
    this.#newest = part;
    known[kind] = part;
    return part;
  }

  #shut(part: UnclosedPart): void {
    const { kind, known, older, newer } = part;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    known[kind] = null;
  }

  #latest(kind: PartKind, owner: Owner): string | undefined {
    for (let part = this.#newest; part; part = part.older) {
      if (part.kind === kind && part.known[kinds[kind].owner] === owner) return part.known.id;
    }
    return undefined;
  }

  #identify(kind: PartKind, event: LooseEvent): LooseEvent {
    const { key } = kinds[kind];
    if (event[key] !== undefined) return event;
    this.#exit.repair("missing-field");
    const whole: LooseEvent = { ...event };
    whole[key] = this.#latest(kind, event.subagentRunId) ?? ulid();
    return whole;
  }

  #opening(kind: SpokenKind, id: string, owner: Owner): LooseEvent {
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
    const owner = this.#ownerOf(field, id);
    if (owner === null || owner === tag) return event;
    this.#exit.repair("wrong-owner");
    return withTag(event, owner);
  }

  // A call lives in the message that carries it, so both must have one owner.
  #settleParent(event: LooseEvent): LooseEvent {
    const parent = event.parentMessageId;
    if (parent === undefined) return event;
    const carrier = this.#ownerOf("messageOwner", parent);
    if (carrier === null) return event;
    const owner = event.subagentRunId ?? this.#ownerOf("toolOwner", event.toolCallId!);
    if (owner === null || owner === carrier) return event;
    this.#exit.repair("wrong-owner");
    const { parentMessageId: _, ...rest } = event;
    return rest;
  }
}

/** An event that has nothing but the id of what it is about. */
function named(type: EventType, key: "messageId" | "toolCallId", id: string): LooseEvent {
  return key === "messageId" ? { type, messageId: id } : { type, toolCallId: id };
}

/** The event attributed to `owner`, on a copy unless it is already. */
export function withTag(event: LooseEvent, owner: Owner): LooseEvent {
  if (event.subagentRunId === owner) return event;
  if (owner === undefined) {
    const { subagentRunId: _, ...rest } = event;
    return rest;
  }
  // Added to the copy, not in the same literal: some engines make a new shape for each of those.
  const tagged: LooseEvent = { ...event };
  tagged.subagentRunId = owner;
  return tagged;
}
