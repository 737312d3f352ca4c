import { EventType } from "@ag-ui/core";

/** What is opened, continued and closed under one id. */
export type PartKind = "text" | "reasoning" | "span" | "tool";

/** Who a message, a tool call or an activity belongs to; `undefined` is the agent itself. */
export type Owner = string | undefined;

/** Where an id keeps the owner of what it names. */
export type OwnerOf = "messageOwner" | "toolOwner" | "reasoningOwner" | "activityOwner";

interface Kind {
  readonly key: "messageId" | "toolCallId";
  readonly start: EventType;
  readonly end: EventType;
  readonly owner: OwnerOf;
}

/** The events of each kind. */
export const kinds: Readonly<Record<PartKind, Kind>> = {
  text: {
    key: "messageId",
    start: EventType.TEXT_MESSAGE_START,
    end: EventType.TEXT_MESSAGE_END,
    owner: "messageOwner",
  },
  reasoning: {
    key: "messageId",
    start: EventType.REASONING_MESSAGE_START,
    end: EventType.REASONING_MESSAGE_END,
    owner: "reasoningOwner",
  },
  span: {
    key: "messageId",
    start: EventType.REASONING_START,
    end: EventType.REASONING_END,
    owner: "reasoningOwner",
  },
  tool: {
    key: "toolCallId",
    start: EventType.TOOL_CALL_START,
    end: EventType.TOOL_CALL_END,
    owner: "toolOwner",
  },
};

/** In the order in which they are closed at the end of a run. */
export const partKinds: readonly PartKind[] = ["text", "reasoning", "span", "tool"];

/** A part while it is open, in a chain with the others. */
export interface UnclosedPart {
  readonly kind: PartKind;
  readonly known: IdRecord;
  /** The guard opened it, so that closing it is no reproach to the agent. */
  readonly ours: boolean;
  older: UnclosedPart | undefined;
  newer: UnclosedPart | undefined;
}

/** All that is known of an id, which different things may share. */
export class IdRecord {
  readonly id: string;
  // `undefined` before its first start, `null` after its end.
  text: UnclosedPart | null | undefined;
  reasoning: UnclosedPart | null | undefined;
  span: UnclosedPart | null | undefined;
  tool: UnclosedPart | null | undefined;
  // `null` while no owner has been named, not even the agent itself. They are kept after the end: what
  // comes later under the same id belongs to the same owner.
  messageOwner: Owner | null = null;
  toolOwner: Owner | null = null;
  reasoningOwner: Owner | null = null;
  activityOwner: Owner | null = null;
  /** The name a tool call was started with. */
  callName: string | undefined;
  /** Whether a client has a message of this id. */
  isMessage = false;
  /** Whether this is a call whose result is counted before there is one: the client makes it. */
  isAwaited = false;

  constructor(id: string) {
    this.id = id;
  }
}
