import { EventType } from "@ag-ui/core";
import type { LooseEvent } from "../shapes.ts";
import { ulid } from "../../base/ids.ts";
import type { Json } from "../../contract/agent.ts";

/** Knows the THINKING_* events of AG-UI 0.0.x, which carry no ids. */
export class Thinking {
  #spanId: string | undefined;
  #messageId: string | undefined;

  /** The event that AG-UI 1.0 has for it; `undefined` for anything else. */
  translate(original: Json): LooseEvent | undefined {
    // A reasoning span has no title.
    const { title: _, ...event } = original;
    switch (event.type) {
      case "THINKING_START":
        this.#spanId = ulid();
        return { ...event, type: EventType.REASONING_START, messageId: this.#spanId };
      case "THINKING_TEXT_MESSAGE_START":
        this.#messageId = ulid();
        return {
          ...event,
          type: EventType.REASONING_MESSAGE_START,
          messageId: this.#messageId,
          role: "reasoning",
        };
      case "THINKING_TEXT_MESSAGE_CONTENT":
        this.#messageId ??= ulid();
        return {
          ...event,
          type: EventType.REASONING_MESSAGE_CONTENT,
          messageId: this.#messageId,
        };
      case "THINKING_TEXT_MESSAGE_END": {
        // An unknown id: an end without a start is dropped as such.
        const messageId = this.#messageId ?? ulid();
        this.#messageId = undefined;
        return { ...event, type: EventType.REASONING_MESSAGE_END, messageId };
      }
      case "THINKING_END": {
        const messageId = this.#spanId ?? ulid();
        this.#spanId = undefined;
        return { ...event, type: EventType.REASONING_END, messageId };
      }
      default:
        return undefined;
    }
  }
}
