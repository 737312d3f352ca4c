import { asText, isRecord } from "@holodeck/agui-core/internal";
import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import type { Json } from "@holodeck/agui-core";

export interface UiDataMapper {
  /** What a `data-*` part, a source or a file means. */
  toDataEvents(type: string, chunk: Json): BaseEvent[];
  /** The questions that the run has ended with. */
  interrupts(): readonly Json[];
  setRun(runId: string): void;
}

/** The parts of a UI message that the AI SDK leaves to applications, and what this server means by them. */
export function createUiDataMapper(): UiDataMapper {
  const asked: Json[] = [];
  let run = "";

  function toDataEvents(type: string, chunk: Json): BaseEvent[] {
    const { data } = chunk;
    const id = asText(chunk.id);
    switch (type) {
      case "data-agui-state":
        return [{ type: EventType.STATE_SNAPSHOT, snapshot: data }];
      case "data-agui-state-delta":
        return [{ type: EventType.STATE_DELTA, delta: data }];
      case "data-agui-interrupt":
        if (isRecord(data)) asked.push(data);
        return [];
      case "data-agui-step":
        return isRecord(data) ? [toStep(data)] : [];
      case "data-agui-subagent":
        return isRecord(data) ? [toSubagent(data, id ?? "")] : [];
      case "data-agui-message":
        return isRecord(data) ? toAside(data, id ?? "") : [];
      case "source-url":
      case "source-document":
      case "file": {
        const { type: name, ...value } = chunk;
        return [{ type: EventType.CUSTOM, name, value }];
      }
      default:
    }
    if (!type.startsWith("data-")) return [];
    const name = type.slice("data-".length);
    // An activity has its own id; the id of a custom event consists of the run's and a number.
    const isCustom = id === undefined || id.startsWith(`${run}:`) || !isRecord(data);
    return isCustom
      ? [{ type: EventType.CUSTOM, name, value: data }]
      : [{ type: EventType.ACTIVITY_SNAPSHOT, messageId: id, activityType: name, content: data }];
  }

  return {
    toDataEvents,
    interrupts: () => asked,
    setRun(runId) {
      run = runId;
    },
  };
}

function toStep({ stepName, status, subagentRunId }: Json): BaseEvent {
  const type = status === "running" ? EventType.STEP_STARTED : EventType.STEP_FINISHED;
  return { type, stepName, ...(subagentRunId !== undefined && { subagentRunId }) };
}

function toSubagent({ name, status, result, errorText }: Json, subagentRunId: string): BaseEvent {
  if (status === "done") return { type: EventType.SUBAGENT_FINISHED, subagentRunId, result };
  if (status === "failed") {
    return { type: EventType.SUBAGENT_ERROR, subagentRunId, message: errorText };
  }
  return { type: EventType.SUBAGENT_STARTED, subagentRunId, name };
}

/** A message in another role than the assistant's, which comes whole. */
function toAside({ role, name, content }: Json, messageId: string): BaseEvent[] {
  const named = name === undefined ? {} : { name };
  return [
    { type: EventType.TEXT_MESSAGE_START, messageId, role, ...named },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: content },
    { type: EventType.TEXT_MESSAGE_END, messageId },
  ];
}
