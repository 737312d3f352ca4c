import { isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { toSnake } from "../snake-name.ts";

/**
 * The members of an object that belong to the envelope: their names are converted. Everything else,
 * and everything inside it, is payload and stays unchanged.
 */
interface Envelope {
  readonly names: ReadonlyMap<string, string>;
  /** Members that are envelopes themselves, or lists of such. */
  readonly inside: ReadonlyMap<string, Envelope>;
}

const toolCall = envelope("encryptedValue encryptedValueType");
const message = envelope(
  "toolCallId toolCalls activityType encryptedValue encryptedValueType subagentRunId",
  // Not `content`, nor the arguments of a call.
  { toolCalls: toolCall },
);
const interrupt = envelope("toolCallId responseSchema expiresAt subagentRunId");
const outcome = envelope("pendingToolCallIds interruptIds", { interrupts: interrupt });
const usage = envelope(
  "inputTokens outputTokens totalTokens reasoningTokens cachedInputTokens cacheWriteInputTokens",
);
const input = envelope("threadId runId protocolVersion parentRunId forwardedProps", {
  messages: message,
  resume: envelope("interruptId"),
});
const names =
  "threadId runId parentRunId protocolVersion messageId parentMessageId toolCallId toolCallName " +
  "parentToolCallId stepName activityType entityId encryptedValue encryptedValueType subagentRunId " +
  "parentSubagentRunId rawEvent";
const flat = envelope(names);
const events: ReadonlyMap<string, Envelope> = new Map([
  [EventType.RUN_STARTED, envelope(names, { input })],
  [EventType.RUN_FINISHED, envelope(names, { outcome, usage })],
  [EventType.RUN_ERROR, envelope(names, { usage })],
  [EventType.SUBAGENT_FINISHED, envelope(names, { outcome })],
  [EventType.MESSAGES_SNAPSHOT, envelope(names, { messages: message })],
]);

/** The event with the names of its envelope in snake_case; no payload is looked into. */
export function toSnakeEvent(event: BaseEvent): Json {
  return convert(event, events.get(event.type) ?? flat);
}

function convert(value: Json, { names: known, inside }: Envelope): Json {
  const converted = new Map<string, unknown>();
  for (const key of Object.keys(value)) {
    const name = known.get(key);
    // What an author called like one of the envelope's own members gives way to it.
    if (name === undefined && converted.has(key)) continue;
    const deeper = inside.get(key);
    converted.set(name ?? key, deeper ? convertEach(value[key], deeper) : value[key]);
  }
  return Object.fromEntries(converted);
}

function convertEach(value: unknown, shape: Envelope): unknown {
  if (Array.isArray(value)) return value.map((one) => (isRecord(one) ? convert(one, shape) : one));
  return isRecord(value) ? convert(value, shape) : value;
}

function envelope(list: string, inside: Record<string, Envelope> = {}): Envelope {
  return {
    names: new Map(list.split(" ").map((name) => [name, toSnake(name)])),
    inside: new Map(Object.entries(inside)),
  };
}
