import { isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";

/**
 * An event for a client older than AG-UI 1.0: the same one if such clients can read it, a reduced one,
 * or nothing. It removes and reshapes; it invents nothing.
 *
 * Subagents: clients up to 0.0.57 fail on `SUBAGENT_*` and track steps by name alone, so both the
 * lifecycle and a subagent's own steps are removed. A subagent's messages, calls and changes stay,
 * with its `subagentRunId`: older clients ignore the tag, and 0.0.58 and 0.0.59 accept tags without
 * lifecycle.
 */
export function downgrade(event: BaseEvent): BaseEvent | undefined {
  switch (event.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.TOOL_CALL_ARGS:
    case EventType.REASONING_MESSAGE_CONTENT:
      // Rejected up to 0.0.49.
      return event.delta === "" ? undefined : event;
    case EventType.TEXT_MESSAGE_CHUNK:
    case EventType.TOOL_CALL_CHUNK:
    case EventType.REASONING_MESSAGE_CHUNK:
      return event.delta === "" ? omit(event, "delta") : event;
    case EventType.TOOL_CALL_RESULT:
      return Array.isArray(event.content) ? { ...event, content: textOf(event.content) } : event;
    case EventType.MESSAGES_SNAPSHOT:
      return { ...event, messages: downgradeMessages(event.messages) };
    case EventType.RUN_STARTED:
      return isRecord(event.input) ? { ...event, input: downgradeInput(event.input) } : event;
    case EventType.RUN_FINISHED:
      return downgradeFinished(event);
    case EventType.STEP_STARTED:
    case EventType.STEP_FINISHED:
      return event.subagentRunId === undefined ? event : undefined;
    case EventType.SUBAGENT_STARTED:
    case EventType.SUBAGENT_FINISHED:
    case EventType.SUBAGENT_ERROR:
      return undefined;
    default:
      return event;
  }
}

function downgradeFinished(event: BaseEvent): BaseEvent {
  const { outcome } = event;
  if (!isRecord(outcome)) return event;
  switch (outcome.type) {
    // Absent means success. Clients that know the word take it for "nothing left to do": assistant-ui then
    // does not send the results of the tools that run in the page.
    case "success":
      return omit(event, "outcome");
    // A strict object in 0.0.59: one member more and the run fails at its last event.
    case "interrupt":
      return { ...event, outcome: { type: "interrupt", interrupts: outcome.interrupts } };
    case "cancelled":
      return { ...omit(event, "outcome"), result: { status: "cancelled" } };
    default:
      return omit(event, "outcome");
  }
}

// Up to 0.0.59 the two lists are required; absent and empty mean the same.
function downgradeInput(input: Json): Json {
  return { tools: [], context: [], ...input, messages: downgradeMessages(input.messages) };
}

function downgradeMessages(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  return messages.map((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return message;
    if (message.role === "tool") return { ...message, content: textOf(message.content) };
    return { ...message, content: message.content.filter((part) => !isProviderFile(part)) };
  });
}

function isProviderFile(part: unknown): boolean {
  return isRecord(part) && isRecord(part.source) && part.source.type === "file";
}

function textOf(parts: readonly unknown[]): string {
  let text = "";
  for (const part of parts) {
    if (isRecord(part) && typeof part.text === "string") text += part.text;
  }
  return text;
}

function omit(event: BaseEvent, key: string): BaseEvent {
  const rest: BaseEvent = { ...event };
  delete rest[key];
  return rest;
}
