import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Encoder, LogEntry, Message } from "@holodeck/agui-core";
import { vercelHeaders } from "./headers.ts";
import { UnsentMessages } from "./unsent-messages.ts";

/**
 * The text protocol, for `streamProtocol: "text"` and `useObject`: only the assistant's text. It has
 * neither errors nor a keep-alive.
 *
 * @example
 * ```ts
 * return run.stream(textStreamEncoder(), "start");
 * ```
 */
export function textStreamEncoder(): Encoder {
  const unsent = new UnsentMessages();
  // Nearly every delta follows one of the same message, which is known to be the assistant's: half the cost.
  let lastId: unknown;

  function encodeOther(event: BaseEvent): string {
    lastId = undefined;
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
        unsent.start(event);
        return "";
      case EventType.TEXT_MESSAGE_END:
        unsent.end(event);
        return "";
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.TEXT_MESSAGE_CHUNK:
        if (!unsent.append(event)) return "";
        lastId = event.messageId;
        return typeof event.delta === "string" ? event.delta : "";
      case EventType.MESSAGES_SNAPSHOT:
        return unsent
          .take(event.messages as readonly Message[])
          .map((message) => (unsent.isNew(message.id) ? textOf(message) : ""))
          .join("");
      default:
        return "";
    }
  }

  function encode({ event }: LogEntry): string {
    const { type, messageId, delta } = event;
    const isNext =
      type === EventType.TEXT_MESSAGE_CONTENT && lastId !== undefined && messageId === lastId;
    return isNext && typeof delta === "string" ? delta : encodeOther(event);
  }

  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders(undefined),
    encode,
    // There is no separator, so the deltas together are the text of the entry.
    encodeDeltas: encode,
  };
}

function textOf(message: Message): string {
  return message.role === "assistant" ? (message.content ?? "") : "";
}
