import { EventType } from "@ag-ui/core";
import type { Message } from "@ag-ui/core";
import type { LooseEvent } from "./guard-events.ts";
import type { Repair } from "./guard-repairs.ts";
import { ulid } from "./ids.ts";

/** What is opened, continued and closed under an id of its own. */
type PartKind = "text" | "reasoning" | "span" | "tool";

/** Who a message, a tool call or an activity belongs to; `undefined` is the agent itself. */
export type Owner = string | undefined;

/** The open parts of a run and the owners of everything it has named. */
export interface Parts {
  isOpen(kind: PartKind, id: string): boolean;
  /** The name a tool call was started with. */
  callName(id: string): string | undefined;
  hasOwner(kind: PartKind, id: string): boolean;
  ownerOf(kind: PartKind, id: string): Owner;
  /** True when a reasoning span of this owner is open. */
  isReasoning(owner: Owner): boolean;
  /** A start event, made by the agent or by the guard itself. */
  start(kind: PartKind, event: LooseEvent, ours?: boolean): void;
  /** A content event; opens what is not open. Returns the id it went to. */
  proceed(kind: PartKind, event: LooseEvent): string;
  end(kind: PartKind, event: LooseEvent): void;
  /** Ends a part on behalf of the guard, if it is open. */
  close(kind: PartKind, id: string): void;
  /** A tool result, an activity or an encrypted value, attributed as its predecessors were. */
  attribute(event: LooseEvent): LooseEvent;
  /** A snapshot restates who owns the messages and calls in it. */
  learn(messages: readonly Message[]): void;
  /** Ends everything; `leftOpen` is told when the agent should have. */
  closeAll(leftOpen: () => void): void;
  /** Calls that were started here and got no result, in order. */
  pendingCalls(): string[];
}

interface Kind {
  readonly key: "messageId" | "toolCallId";
  readonly start: EventType;
  readonly end: EventType;
  readonly owners: "message" | "tool" | "reasoning";
}

const kinds: Readonly<Record<PartKind, Kind>> = {
  text: {
    key: "messageId",
    start: EventType.TEXT_MESSAGE_START,
    end: EventType.TEXT_MESSAGE_END,
    owners: "message",
  },
  reasoning: {
    key: "messageId",
    start: EventType.REASONING_MESSAGE_START,
    end: EventType.REASONING_MESSAGE_END,
    owners: "reasoning",
  },
  span: {
    key: "messageId",
    start: EventType.REASONING_START,
    end: EventType.REASONING_END,
    owners: "reasoning",
  },
  tool: {
    key: "toolCallId",
    start: EventType.TOOL_CALL_START,
    end: EventType.TOOL_CALL_END,
    owners: "tool",
  },
};

type Bucket = Kind["owners"] | "activity";

interface OpenPart {
  readonly kind: PartKind;
  readonly id: string;
  /** The guard opened it, so that closing it is no reproach to the agent. */
  readonly ours: boolean;
}

interface Owners {
  has(bucket: Bucket, id: string): boolean;
  get(bucket: Bucket, id: string): Owner;
  set(bucket: Bucket, id: string, owner: Owner): void;
}

function createOwners(): Owners {
  const known = new Map<string, Owner>();
  return {
    has: (bucket, id) => known.has(`${bucket} ${id}`),
    get: (bucket, id) => known.get(`${bucket} ${id}`),
    set: (bucket, id, owner) => void known.set(`${bucket} ${id}`, owner),
  };
}

/** Keeps the rules of everything that has a start, a content and an end. */
export function createParts(send: (event: LooseEvent) => void, repair: Repair): Parts {
  // One map for all kinds, by kind and id: there is one of these per run, and most runs need little.
  const open = new Map<string, OpenPart>();
  // Kept after the end of a part: what comes later under the same id belongs to the same owner.
  const owners = createOwners();
  let callNames: Map<string, string> | undefined;
  const begun = new Set<string>();
  let calls: Set<string> | undefined;
  let answered: Set<string> | undefined;

  const isOpen = (kind: PartKind, id: string): boolean => open.has(`${kind} ${id}`);

  function ownerOf(kind: PartKind, id: string): Owner {
    return owners.get(kinds[kind].owners, id);
  }

  function retag(event: LooseEvent, bucket: Bucket, id: string): LooseEvent {
    const tag = event.subagentRunId;
    if (tag === undefined || !owners.has(bucket, id) || owners.get(bucket, id) === tag)
      return event;
    repair("wrong-owner");
    return withTag(event, owners.get(bucket, id));
  }

  // A call lives in the message that carries it, so both must have one owner.
  function settleParent(event: LooseEvent): LooseEvent {
    const parent = event.parentMessageId;
    if (parent === undefined || !owners.has("message", parent)) return event;
    const id = event.toolCallId!;
    const carrier = owners.get("message", parent);
    const tag = event.subagentRunId;
    const known = tag !== undefined || owners.has("tool", id);
    if (!known || (tag ?? owners.get("tool", id)) === carrier) return event;
    repair("wrong-owner");
    const { parentMessageId: _, ...rest } = event;
    return rest;
  }

  function start(kind: PartKind, event: LooseEvent, ours = false): void {
    const { key, owners: bucket } = kinds[kind];
    const id = event[key]!;
    if (isOpen(kind, id)) return repair("duplicate-start");
    let opener = retag(event, bucket, id);
    let owner = opener.subagentRunId;
    if (kind === "tool") {
      opener = settleParent(opener);
      owner ??= owners.get("message", opener.parentMessageId!);
      (callNames ??= new Map()).set(id, opener.toolCallName!);
      (calls ??= new Set()).add(id);
    }
    if (!owners.has(bucket, id)) owners.set(bucket, id, owner);
    begun.add(`${kind} ${id}`);
    open.set(`${kind} ${id}`, { kind, id, ours });
    send(opener);
  }

  function proceed(kind: PartKind, event: LooseEvent): string {
    const { key, owners: bucket } = kinds[kind];
    const [id, whole] = identify(kind, event);
    if (!isOpen(kind, id)) {
      repair(begun.has(`${kind} ${id}`) ? "reopened" : "not-started");
      const owner = owners.has(bucket, id) ? owners.get(bucket, id) : event.subagentRunId;
      start(kind, opening(kind, id, owner), true);
    }
    send(retag(whole, bucket, id));
    return id;

    function opening(kind: PartKind, id: string, owner: Owner): LooseEvent {
      const base = named(kinds[kind].start, key, id);
      if (kind === "text") base.role = "assistant";
      if (kind === "reasoning") base.role = "reasoning";
      if (kind === "tool") base.toolCallName = callNames?.get(id) ?? "unknown";
      return withTag(base, owner);
    }
  }

  function end(kind: PartKind, event: LooseEvent): void {
    const { key, owners: bucket } = kinds[kind];
    const id = event[key] ?? newest(kind, event.subagentRunId);
    if (id === undefined || !isOpen(kind, id)) return repair("not-open");
    const [, whole] = identify(kind, event);
    const closer = retag(whole, bucket, id);
    open.delete(`${kind} ${id}`);
    send(closer);
  }

  function identify(kind: PartKind, event: LooseEvent): [string, LooseEvent] {
    const { key } = kinds[kind];
    const given = event[key];
    if (given !== undefined) return [given, event];
    repair("missing-field");
    const id = newest(kind, event.subagentRunId) ?? ulid();
    return [id, { ...event, [key]: id }];
  }

  function newest(kind: PartKind, owner: Owner): string | undefined {
    let last: string | undefined;
    for (const part of open.values()) {
      if (part.kind === kind && ownerOf(kind, part.id) === owner) last = part.id;
    }
    return last;
  }

  function close(kind: PartKind, id: string): void {
    if (!open.delete(`${kind} ${id}`)) return;
    const { end: type, key } = kinds[kind];
    send(withTag(named(type, key, id), ownerOf(kind, id)));
  }

  function attribute(event: LooseEvent): LooseEvent {
    const id = event.messageId!;
    const tag = event.subagentRunId;
    switch (event.type) {
      case EventType.TOOL_CALL_RESULT:
        // Makes the message anew, and who ran the tool need not be who called it.
        (answered ??= new Set()).add(event.toolCallId!);
        owners.set("message", id, tag);
        return event;
      case EventType.ACTIVITY_SNAPSHOT:
        if (event.replace !== false || !owners.has("activity", id)) {
          owners.set("activity", id, tag);
        }
        return event;
      case EventType.ACTIVITY_DELTA:
        return retag(event, "activity", id);
      default: {
        const entity = event.entityId!;
        if (event.subtype === "tool-call") return retag(event, "tool", entity);
        return retag(event, owners.has("message", entity) ? "message" : "reasoning", entity);
      }
    }
  }

  function learn(messages: readonly Message[]): void {
    for (const message of messages) {
      const { id, role, subagentRunId } = message;
      const bucket = role === "reasoning" || role === "activity" ? role : "message";
      owners.set(bucket, id, subagentRunId);
      if (message.role === "tool") (answered ??= new Set()).add(message.toolCallId);
      if (!("toolCalls" in message)) continue;
      for (const call of message.toolCalls ?? []) {
        owners.set("tool", call.id, subagentRunId);
        (callNames ??= new Map()).set(call.id, call.function.name);
      }
    }
  }

  return {
    attribute,
    close,
    end,
    learn,
    ownerOf,
    proceed,
    start,
    isOpen,
    callName: (id) => callNames?.get(id),
    hasOwner: (kind, id) => owners.has(kinds[kind].owners, id),
    isReasoning: (owner) => newest("span", owner) !== undefined,
    pendingCalls: () => [...(calls ?? [])].filter((id) => !answered?.has(id)),
    closeAll(leftOpen) {
      for (const kind of ["text", "reasoning", "span", "tool"] as const) {
        for (const part of open.values()) {
          if (part.kind !== kind) continue;
          if (!part.ours) leftOpen();
          close(kind, part.id);
        }
      }
    },
  };
}

/** An event that has nothing but the id of what it is about. */
export function named(type: EventType, key: "messageId" | "toolCallId", id: string): LooseEvent {
  return key === "messageId" ? { type, messageId: id } : { type, toolCallId: id };
}

/** The event attributed to `owner`, on a copy unless it is already. */
export function withTag(event: LooseEvent, owner: Owner): LooseEvent {
  if (event.subagentRunId === owner) return event;
  if (owner !== undefined) return { ...event, subagentRunId: owner };
  const { subagentRunId: _, ...rest } = event;
  return rest;
}
