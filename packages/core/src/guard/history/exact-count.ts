import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { jsonBytes, textBytes } from "../../json/bytes.ts";

// A message or a call without its texts, in the widest of the clients' formats.
const perPart = 256;

// Where a client keeps data, these are parts of its messages.
export const asData: ReadonlySet<string> = new Set([
  EventType.CUSTOM,
  EventType.STEP_STARTED,
  EventType.STEP_FINISHED,
  EventType.SUBAGENT_STARTED,
  EventType.SUBAGENT_FINISHED,
  EventType.SUBAGENT_ERROR,
]);

/** The next body, part by part. */
export class ExactCount {
  /** What is neither state nor a message. */
  rest = 0;
  messages = 0;
  state = 0;
  custom = 0;
  readonly #keepsData: boolean;
  #activities: Map<string, number> | undefined;
  #ids: Set<string> | undefined;

  constructor(keepsData: boolean) {
    this.#keepsData = keepsData;
  }

  get total(): number {
    return this.rest + this.messages + this.state + this.custom;
  }

  add(event: BaseEvent): void {
    switch (event.type) {
      case EventType.STATE_SNAPSHOT:
        this.state = jsonBytes(event.snapshot);
        return;
      case EventType.STATE_DELTA:
        this.state += jsonBytes(event.delta);
        return;
      case EventType.ACTIVITY_SNAPSHOT:
        return this.#replaceActivity(event);
      case EventType.MESSAGES_SNAPSHOT:
        this.messages += this.#keepsData
          ? this.#newIn(event.messages as Message[])
          : bytesOf(event);
        return;
      default:
        if (asData.has(event.type)) this.custom += dataBytes(event);
        else this.messages += bytesOf(event);
    }
  }

  #replaceActivity(event: BaseEvent): void {
    const activities = (this.#activities ??= new Map());
    const id = event.messageId as string;
    const bytes = bytesOf(event);
    this.messages += bytes - (activities.get(id) ?? 0);
    activities.set(id, bytes);
  }

  // Each is a part of the client's message once.
  #newIn(messages: readonly Message[]): number {
    const ids = (this.#ids ??= new Set());
    let bytes = 0;
    for (const message of messages) {
      if (!ids.has(message.id)) bytes += 2 * perPart + message.id.length + jsonBytes(message);
      ids.add(message.id);
    }
    return bytes;
  }

  /** Counts the messages again; those of a snapshot stand for all before it but thoughts and activities. */
  recount(
    held: { messages: readonly Message[]; events: readonly BaseEvent[] },
    last: BaseEvent | undefined,
  ): void {
    const events = last ? [...held.events, last] : held.events;
    const at = events.map(({ type }) => type).lastIndexOf(EventType.MESSAGES_SNAPSHOT);
    const stays = ({ role }: Message): boolean => at === -1 || role === "reasoning";
    this.messages = 0;
    for (const message of held.messages) {
      if (message.role === "activity" ? this.#keepsData : stays(message)) {
        this.messages += 1 + jsonBytes(message) + (this.#keepsData ? perPart : 0);
      }
    }
    for (const event of events.slice(Math.max(0, at))) this.messages += bytesOf(event);
  }
}

function bytesOf(event: BaseEvent): number {
  const { metadata } = event;
  const more = metadata === undefined ? 0 : jsonBytes(metadata);
  switch (event.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.REASONING_MESSAGE_CONTENT:
    case EventType.TOOL_CALL_ARGS:
      return more + textBytes(event.delta as string);
    case EventType.TEXT_MESSAGE_START:
    case EventType.REASONING_MESSAGE_START:
    case EventType.TOOL_CALL_START:
      return more + perPart + 2 * jsonBytes(event);
    case EventType.TOOL_CALL_RESULT:
      return more + perPart + 2 * jsonBytes(event.toolCallId) + jsonBytes(event);
    case EventType.ACTIVITY_SNAPSHOT:
      return more + perPart + jsonBytes(event);
    case EventType.ACTIVITY_DELTA:
      return more + jsonBytes(event.patch);
    case EventType.REASONING_ENCRYPTED_VALUE:
      return more + jsonBytes(event.encryptedValue) + jsonBytes(event.encryptedValueType);
    case EventType.MESSAGES_SNAPSHOT:
      return jsonBytes(event.messages);
    default:
      return 0;
  }
}

export function dataBytes(event: BaseEvent): number {
  return perPart + 2 * jsonBytes(event);
}
