import type { BaseEvent } from "@ag-ui/core";
import type { RecordedFrame } from "../page/model.ts";

/** A frame of server-sent events, as it would come. */
export function frame(index: number, at: number, ...events: readonly object[]): RecordedFrame {
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const bytes = new TextEncoder().encode(lines || ":\n\n");
  return { index, at, bytes, events: events as BaseEvent[] };
}

/** A piece of an answer. */
export function text(messageId: string, delta: string): BaseEvent {
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta } as unknown as BaseEvent;
}
