import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";

/** When the parts of a run came about. */
export interface Times {
  note(event: BaseEvent, at: number): void;
  read(): Readonly<Record<string, number>>;
}

/** Remembers when each message was begun and each tool call was complete, by their ids. */
export function createTimes(): Times {
  const times = new Map<string, number>();
  const begin = (id: unknown, at: number): void => {
    if (typeof id === "string" && !times.has(id)) times.set(id, at);
  };
  return {
    note(event, at) {
      switch (event.type) {
        case EventType.TEXT_MESSAGE_START:
        case EventType.REASONING_MESSAGE_START:
        case EventType.TOOL_CALL_RESULT:
        case EventType.ACTIVITY_SNAPSHOT:
          return begin(event.messageId, at);
        case EventType.TOOL_CALL_START:
          // It may be the beginning of a message: under the name of its parent, or its own.
          begin(event.parentMessageId, at);
          return begin(event.toolCallId, at);
        case EventType.TOOL_CALL_END:
          if (typeof event.toolCallId === "string") times.set(event.toolCallId, at);
          return;
        default:
      }
    },
    read: () => Object.fromEntries(times),
  };
}
