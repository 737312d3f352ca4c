import { EventType } from "@ag-ui/core";
import type { LooseEvent } from "./guard-events.ts";
import { ulid } from "./ids.ts";
import type { Json } from "./types.ts";

/** Translates the THINKING_* events of AG-UI 0.0.x, which carry no ids; anything else is `undefined`. */
export function createThinking(): (event: Json) => LooseEvent | undefined {
  let spanId: string | undefined;
  let messageId: string | undefined;

  return (original) => {
    // A reasoning span has no title.
    const { title: _, ...event } = original;
    switch (event.type) {
      case "THINKING_START":
        spanId = ulid();
        return { ...event, type: EventType.REASONING_START, messageId: spanId };
      case "THINKING_TEXT_MESSAGE_START":
        messageId = ulid();
        return {
          ...event,
          type: EventType.REASONING_MESSAGE_START,
          messageId,
          role: "reasoning",
        };
      case "THINKING_TEXT_MESSAGE_CONTENT":
        messageId ??= ulid();
        return { ...event, type: EventType.REASONING_MESSAGE_CONTENT, messageId };
      case "THINKING_TEXT_MESSAGE_END":
        return { ...event, type: EventType.REASONING_MESSAGE_END, messageId: take("message") };
      case "THINKING_END":
        return { ...event, type: EventType.REASONING_END, messageId: take("span") };
      default:
        return undefined;
    }
  };

  // An id nobody knows: an end without a start is dropped as such.
  function take(which: "message" | "span"): string {
    const id = (which === "span" ? spanId : messageId) ?? ulid();
    if (which === "span") spanId = undefined;
    else messageId = undefined;
    return id;
  }
}
