import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";

// Looked up once: these are compared for every token.
const content = EventType.TEXT_MESSAGE_CONTENT;
const reasoning = EventType.REASONING_MESSAGE_CONTENT;
const args = EventType.TOOL_CALL_ARGS;

/** A delta that has its type, the id of its part and its text, and nothing else. */
export interface BareDelta extends BaseEvent {
  delta: string;
  messageId?: string;
  toolCallId?: string;
}

/** A bare delta, or one that has `timestamp` or `subagentRunId` besides. */
export interface PlainDelta extends BareDelta {
  subagentRunId?: unknown;
}

/** What may have the members of a delta. */
interface Members {
  readonly type?: unknown;
  readonly messageId?: unknown;
  readonly toolCallId?: unknown;
  readonly delta?: unknown;
  readonly timestamp?: unknown;
  readonly subagentRunId?: unknown;
}

/**
 * Whether an event is a delta of a text, of reasoning or of a tool call's arguments, and nothing else: type, id
 * and delta. Members that are undefined do not count. Only such deltas can be joined and framed without a look at
 * the rest of them.
 *
 * @example
 * ```ts
 * isBareDelta({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m", delta: "Hello" }); // true
 * ```
 */
export function isBareDelta(event: BaseEvent): event is BareDelta {
  return typeof event.delta === "string" && partOf(event) !== undefined && hasMembers(event, 3);
}

/** The same for a delta that may have labels: the time and the subagent it is of. */
export function isPlainDelta(event: BaseEvent): event is PlainDelta {
  return partOf(event) !== undefined && hasOnlyText(event);
}

/** Whether a plain delta has a label, so that it is not bare. */
export function hasLabel({ timestamp, subagentRunId }: Members): boolean {
  return timestamp !== undefined || subagentRunId !== undefined;
}

/** The id of the part that a delta belongs to. Returns undefined for any other event. */
export function partOf(event: Members): string | undefined {
  const { type } = event;
  // Only the one that it has: to look for a member that is not there takes longer.
  let id: unknown;
  if (type === content || type === reasoning) id = event.messageId;
  else if (type === args) id = event.toolCallId;
  return typeof id === "string" ? id : undefined;
}

/** Whether a plain delta belongs to the same part, and the same subagent, as the one before it. */
export function continuesPart(last: Members, next: Members): boolean {
  return (
    last.type === next.type &&
    last.messageId === next.messageId &&
    last.toolCallId === next.toolCallId &&
    last.subagentRunId === next.subagentRunId
  );
}

/** Whether an event with a type and the id of its part has a text besides, perhaps labels, and nothing else. */
export function hasOnlyText(event: Members): event is { readonly delta: string } {
  if (typeof event.delta !== "string") return false;
  const count = countMembers(event);
  return count === 3 || (count > 3 && countDefined(event) === 3 + countLabels(event));
}

/** Whether so many members of an event are defined. */
export function hasMembers(event: object, expected: number): boolean {
  const count = countMembers(event);
  return count === expected || (count > expected && countDefined(event) === expected);
}

/** The size of a bare delta. */
export function sizeOfText(type: string, id: string, delta: string): number {
  // `{"type":"…","messageId":"…","delta":"…","timestamp":…}` around the three strings.
  return 64 + type.length + id.length + delta.length;
}

/** The size of a delta or chunk of text with an id, perhaps with labels. Returns undefined for anything else. */
export function sizeOfDelta(event: Members): number | undefined {
  const { type, messageId, toolCallId, subagentRunId } = event;
  const id = messageId ?? toolCallId;
  if (typeof type !== "string" || typeof id !== "string" || !hasOnlyText(event)) return undefined;
  const owner = typeof subagentRunId === "string" ? subagentRunId.length + 19 : 0;
  return sizeOfText(type, id, event.delta) + owner;
}

// The cheapest way to find out that there is no other.
function countMembers(event: object): number {
  let count = 0;
  for (const _ in event) count++;
  return count;
}

function countDefined(event: object): number {
  let count = 0;
  for (const key in event) if ((event as Record<string, unknown>)[key] !== undefined) count++;
  return count;
}

function countLabels({ timestamp, subagentRunId }: Members): number {
  return (timestamp === undefined ? 0 : 1) + (subagentRunId === undefined ? 0 : 1);
}
