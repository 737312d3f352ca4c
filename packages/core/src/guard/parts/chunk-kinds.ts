import { EventType } from "@ag-ui/core";
import { kinds } from "./known.ts";

/** How a kind of chunk is sent as start and content. */
export interface ChunkKind {
  readonly kind: "text" | "reasoning" | "tool";
  readonly key: "messageId" | "toolCallId";
  readonly start: EventType;
  readonly content: EventType;
  /** What belongs to the start alone. */
  readonly own: readonly string[];
}

export const chunkKinds: Readonly<Record<string, ChunkKind>> = {
  [EventType.TEXT_MESSAGE_CHUNK]: {
    ...kinds.text,
    kind: "text",
    content: EventType.TEXT_MESSAGE_CONTENT,
    own: ["role", "name"],
  },
  [EventType.REASONING_MESSAGE_CHUNK]: {
    ...kinds.reasoning,
    kind: "reasoning",
    content: EventType.REASONING_MESSAGE_CONTENT,
    own: [],
  },
  [EventType.TOOL_CALL_CHUNK]: {
    ...kinds.tool,
    kind: "tool",
    content: EventType.TOOL_CALL_ARGS,
    own: ["toolCallName", "parentMessageId"],
  },
};

/** The official client lets these pass between two chunks of one message. */
export const asides: ReadonlySet<EventType> = new Set([
  EventType.RAW,
  EventType.ACTIVITY_SNAPSHOT,
  EventType.ACTIVITY_DELTA,
  EventType.REASONING_ENCRYPTED_VALUE,
]);

/** Ours for text without an id: only what begins something else ends it. */
export const boundaries: ReadonlySet<EventType> = new Set([
  EventType.TEXT_MESSAGE_START,
  EventType.REASONING_START,
  EventType.REASONING_MESSAGE_START,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_END,
  EventType.REASONING_END,
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_RESULT,
  EventType.STEP_STARTED,
  EventType.STEP_FINISHED,
  EventType.SUBAGENT_STARTED,
  EventType.SUBAGENT_FINISHED,
  EventType.SUBAGENT_ERROR,
]);
