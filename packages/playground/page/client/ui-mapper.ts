import { asText, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import type { Json } from "@holodeck/agui-core";
import { createUiDataMapper } from "./ui-data-mapper.ts";

/** Translates the chunks of one UI message stream to AG-UI. */
export function createUiMapper(threadId: string): (chunk: Json) => BaseEvent[] {
  const { toDataEvents, interrupts, setRun } = createUiDataMapper();
  /** Where a part's text goes: the message that it came from. */
  const targets = new Map<string, string>();
  const openCalls = new Set<string>();
  const calls = new Set<string>();
  let runId = "";
  let usage: unknown;
  let result: unknown;

  function takeMetadata(value: unknown): BaseEvent[] {
    if (!isRecord(value)) return [];
    usage = value.usage ?? usage;
    result = value.result ?? result;
    const { encrypted, encryptedTypes: types } = isRecord(value.agui) ? value.agui : {};
    return Object.entries(isRecord(encrypted) ? encrypted : {}).map(
      ([entityId, encryptedValue]): BaseEvent => {
        const type = isRecord(types) ? asText(types[entityId]) : undefined;
        return {
          type: EventType.REASONING_ENCRYPTED_VALUE,
          subtype: calls.has(entityId) ? "tool-call" : "message",
          entityId,
          encryptedValue,
          ...(type === undefined ? {} : { encryptedValueType: type }),
        };
      },
    );
  }

  function start(chunk: Json): BaseEvent[] {
    const metadata = isRecord(chunk.messageMetadata) ? chunk.messageMetadata : {};
    runId = asText(metadata.runId) ?? asText(chunk.messageId) ?? "";
    setRun(runId);
    const thread = asText(metadata.threadId) ?? threadId;
    return [{ type: EventType.RUN_STARTED, threadId: thread, runId }, ...takeMetadata(metadata)];
  }

  function startProse(chunk: Json, isReasoning: boolean): BaseEvent[] {
    const origin = originOf(chunk.providerMetadata);
    const id = asText(chunk.id) ?? "";
    const messageId = asText(origin.messageId) ?? id;
    targets.set(id, messageId);
    const who = isReasoning ? "reasoning" : "assistant";
    const type = isReasoning ? EventType.REASONING_MESSAGE_START : EventType.TEXT_MESSAGE_START;
    return [{ type, messageId, role: who, ...ownerOf(origin) }];
  }

  function toPartEvents(chunk: Json, type: EventType): BaseEvent[] {
    const id = asText(chunk.id) ?? "";
    const messageId = targets.get(id) ?? id;
    const delta = asText(chunk.delta);
    return [{ type, messageId, ...(delta !== undefined && { delta }) }];
  }

  function startCall(chunk: Json): BaseEvent[] {
    const toolCallId = asText(chunk.toolCallId) ?? "";
    calls.add(toolCallId);
    openCalls.add(toolCallId);
    const toolCallName = asText(chunk.toolName) ?? "";
    const origin = originOf(chunk.providerMetadata);
    const parentMessageId = asText(origin.messageId);
    return [
      {
        type: EventType.TOOL_CALL_START,
        toolCallId,
        toolCallName,
        ...(parentMessageId !== undefined && { parentMessageId }),
        ...ownerOf(origin),
      },
    ];
  }

  function endCall(chunk: Json): BaseEvent[] {
    const toolCallId = asText(chunk.toolCallId) ?? "";
    const events: BaseEvent[] = [];
    if (!calls.has(toolCallId)) {
      // Sent at once: its arguments did not stream.
      const delta = JSON.stringify(chunk.input ?? {});
      events.push(...startCall(chunk), { type: EventType.TOOL_CALL_ARGS, toolCallId, delta });
    }
    if (openCalls.delete(toolCallId)) events.push({ type: EventType.TOOL_CALL_END, toolCallId });
    return events;
  }

  function answer(chunk: Json, content: string, isFailure: boolean): BaseEvent[] {
    const toolCallId = asText(chunk.toolCallId) ?? "";
    const messageId = `${toolCallId}:result`;
    const failure = isFailure ? { metadata: { error: content } } : {};
    return [
      {
        type: EventType.TOOL_CALL_RESULT,
        messageId,
        toolCallId,
        role: "tool",
        content,
        ...failure,
      },
    ];
  }

  function finish(outcome: Json): BaseEvent[] {
    const found = interrupts();
    return [
      {
        type: EventType.RUN_FINISHED,
        threadId,
        runId,
        ...(result !== undefined && { result }),
        ...(usage !== undefined && { usage: [usage] }),
        outcome: found.length > 0 ? { type: "interrupt", interrupts: found } : outcome,
      },
    ];
  }

  return (chunk) => {
    const type = asText(chunk.type) ?? "";
    switch (type) {
      case "start":
        return start(chunk);
      case "text-start":
        return startProse(chunk, false);
      case "text-delta":
        return toPartEvents(chunk, EventType.TEXT_MESSAGE_CONTENT);
      case "text-end":
        return toPartEvents(chunk, EventType.TEXT_MESSAGE_END);
      case "reasoning-start":
        return startProse(chunk, true);
      case "reasoning-delta":
        return toPartEvents(chunk, EventType.REASONING_MESSAGE_CONTENT);
      case "reasoning-end":
        return toPartEvents(chunk, EventType.REASONING_MESSAGE_END);
      case "tool-input-start":
        return startCall(chunk);
      case "tool-input-delta": {
        const { toolCallId, inputTextDelta: delta } = chunk;
        return [{ type: EventType.TOOL_CALL_ARGS, toolCallId, delta }];
      }
      case "tool-input-available":
      case "tool-input-error":
        return endCall(chunk);
      case "tool-output-available":
        return answer(chunk, toContent(chunk.output), false);
      case "tool-output-error":
        return answer(chunk, asText(chunk.errorText) ?? "The tool failed.", true);
      case "tool-output-denied":
        return answer(chunk, "It was not allowed.", true);
      case "message-metadata":
        return takeMetadata(chunk.messageMetadata);
      case "finish":
        return [...takeMetadata(chunk.messageMetadata), ...finish({ type: "success" })];
      case "abort":
        return finish({ type: "cancelled" });
      case "error":
        return [{ type: EventType.RUN_ERROR, message: asText(chunk.errorText) ?? "" }];
      default:
        return toDataEvents(type, chunk);
    }
  };
}

function originOf(metadata: unknown): Json {
  const origin = isRecord(metadata) ? metadata.agui : undefined;
  return isRecord(origin) ? origin : {};
}

function ownerOf({ name, subagentRunId }: Json): Json {
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof subagentRunId === "string" && { subagentRunId }),
  };
}

function toContent(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output ?? null);
}
