import { EventType } from "@holodeck/agui-core";
import type { Encoder, Message } from "@holodeck/agui-core";
import { vercelHeaders } from "./headers.ts";
import { createUnsaid } from "./unsaid-messages.ts";

/**
 * The text protocol, for `streamProtocol: "text"` and `useObject`: what the assistant says and nothing
 * else. It has no word for errors and no keep-alive.
 *
 * @example
 * ```ts
 * return run.stream(textStreamEncoder(), "start");
 * ```
 */
export function textStreamEncoder(): Encoder {
  const unsaid = createUnsaid();
  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders(undefined),
    encode({ event }) {
      switch (event.type) {
        case EventType.TEXT_MESSAGE_START:
          unsaid.start(event);
          return "";
        case EventType.TEXT_MESSAGE_END:
          unsaid.end(event);
          return "";
        case EventType.TEXT_MESSAGE_CONTENT:
        case EventType.TEXT_MESSAGE_CHUNK:
          return unsaid.hear(event) && typeof event.delta === "string" ? event.delta : "";
        case EventType.MESSAGES_SNAPSHOT:
          return unsaid
            .take(event.messages as readonly Message[])
            .map((message) => (unsaid.isNew(message.id) ? textOf(message) : ""))
            .join("");
        default:
          return "";
      }
    },
  };
}

function textOf(message: Message): string {
  return message.role === "assistant" ? (message.content ?? "") : "";
}
