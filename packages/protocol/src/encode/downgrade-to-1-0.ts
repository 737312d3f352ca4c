import { commonVersion, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";

/** Whether a client of this version receives the events as they are. */
export function isCurrent(version: string): boolean {
  return version !== "1.0" && commonVersion(version) !== "1.0";
}

/**
 * An event for a client of AG-UI 1.0: without `encryptedValueType`, which such clients remove with a warning, and under
 * the version that is left.
 */
export function downgradeTo10(event: BaseEvent): BaseEvent {
  switch (event.type) {
    case EventType.RUN_STARTED:
      return startTo10(event);
    case EventType.REASONING_ENCRYPTED_VALUE:
      return withoutType(event);
    case EventType.MESSAGES_SNAPSHOT: {
      const messages = messagesTo10(event.messages);
      return messages === event.messages ? event : { ...event, messages };
    }
    default:
      return event;
  }
}

function startTo10(event: BaseEvent): BaseEvent {
  const { protocolVersion, input } = event;
  const start = protocolVersion === undefined ? event : { ...event, protocolVersion: "1.0" };
  if (input === undefined || !isRecord(input)) return start;
  return { ...start, input: { ...input, messages: messagesTo10(input.messages) } };
}

function messagesTo10(messages: unknown): unknown {
  return mapChanged(messages, (message) => {
    const plain = withoutType(message);
    const toolCalls = mapChanged(plain.toolCalls, withoutType);
    return toolCalls === plain.toolCalls ? plain : { ...plain, toolCalls };
  });
}

/** The same list when no entry has changed. */
function mapChanged(list: unknown, change: (entry: Json) => Json): unknown {
  if (!Array.isArray(list)) return list;
  const changed = (list as unknown[]).map((entry) => (isRecord(entry) ? change(entry) : entry));
  return changed.some((entry, index) => entry !== list[index]) ? changed : list;
}

function withoutType<T extends Json>(value: T): T {
  if (value.encryptedValueType === undefined) return value;
  const rest = { ...value };
  delete rest.encryptedValueType;
  return rest;
}
