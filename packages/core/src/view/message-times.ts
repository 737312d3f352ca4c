import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";

/** Remembers when each message was begun and each tool call was complete, by their ids. */
export class Times {
  // Most runs have only one message, which needs no map.
  #firstId: string | undefined = undefined;
  #firstAt = 0;
  #others: Map<string, number> | undefined = undefined;

  note(event: BaseEvent, at: number): void {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
      case EventType.REASONING_MESSAGE_START:
      case EventType.TOOL_CALL_RESULT:
      case EventType.ACTIVITY_SNAPSHOT:
        return this.#begin(event.messageId, at);
      case EventType.TOOL_CALL_START:
        // It may be the beginning of a message: under the name of its parent, or its own.
        this.#begin(event.parentMessageId, at);
        return this.#begin(event.toolCallId, at);
      case EventType.TOOL_CALL_END:
        if (typeof event.toolCallId === "string") this.#set(event.toolCallId, at);
        return;
      default:
    }
  }

  read(): Readonly<Record<string, number>> {
    // Without a prototype: a plain object would teach V8 a new shape for every id there ever was.
    const times = Object.create(null) as Record<string, number>;
    if (this.#firstId !== undefined) times[this.#firstId] = this.#firstAt;
    if (this.#others) for (const [id, at] of this.#others) times[id] = at;
    return times;
  }

  #begin(id: unknown, at: number): void {
    if (typeof id !== "string" || id === this.#firstId || this.#others?.has(id)) return;
    this.#set(id, at);
  }

  #set(id: string, at: number): void {
    this.#firstId ??= id;
    if (id === this.#firstId) this.#firstAt = at;
    else (this.#others ??= new Map()).set(id, at);
  }
}
