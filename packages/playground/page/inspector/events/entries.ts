import type { BaseEvent } from "@ag-ui/core";
import type { RecordedFrame } from "../../model.ts";

/** One event of an exchange, and when it came. */
export interface Entry {
  /** Its place among all events of the exchange that are shown. */
  readonly index: number;
  /** Milliseconds since the request was sent. */
  readonly at: number;
  /** Milliseconds since the event before it. */
  readonly gap: number;
  readonly event: BaseEvent;
}

/** The events of all frames, in order. */
export function toEntries(frames: readonly RecordedFrame[]): Entry[] {
  const entries: Entry[] = [];
  let previous = 0;
  for (const { at, events } of frames) {
    for (const event of events) {
      entries.push({ index: entries.length, at, gap: at - previous, event });
      previous = at;
    }
  }
  return entries;
}

/** Text, reasoning or arguments that an event adds to something that grows. */
export function deltaOf(event: BaseEvent): string | undefined {
  if (!deltaTypes.has(event.type)) return undefined;
  const { delta } = event as { delta?: unknown };
  return typeof delta === "string" ? delta : undefined;
}

/** What an event adds to: a message or a call. */
export function subjectOf(event: BaseEvent): string {
  const { messageId, toolCallId } = event as { messageId?: string; toolCallId?: string };
  return toolCallId ?? messageId ?? "";
}

const deltaTypes: ReadonlySet<string> = new Set([
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_CHUNK",
  "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_CHUNK",
  "TOOL_CALL_ARGS",
  "TOOL_CALL_CHUNK",
]);
