import { applyPatch, EventType } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { convertData, toLine } from "./convert.ts";

/** Lines for the events that are data to the client, not part of the answer. */
export interface DataStreamData {
  /** Nothing for an event that is none of them. */
  encode(event: BaseEvent): string | undefined;
}

/** State, activities, steps, subagents and events of one's own as data parts and annotations. */
export function createDataStreamData(options: { readonly isOldest: boolean }): DataStreamData {
  const activities = new Map<string, Activity>();

  function activity(id: string, { type, content }: Activity): string {
    activities.set(id, { type, content });
    // A workflow's events belong to the message, in the form that chat UIs know them in.
    if (type === "agent") return annotate(type, content);
    return data("agui-activity", { id, activityType: type, content });
  }

  function changeActivity(event: BaseEvent): string {
    const { messageId, patch } = event as unknown as { messageId: string; patch: never };
    const known = activities.get(messageId);
    if (!known) return "";
    try {
      return activity(messageId, { ...known, content: applyPatch(known.content, patch) });
    } catch {
      // As AG-UI's own clients do: what does not apply changes nothing.
      return "";
    }
  }

  return {
    encode(event) {
      switch (event.type) {
        case EventType.STATE_SNAPSHOT:
          return data("agui-state", event.snapshot);
        case EventType.STATE_DELTA:
          return data("agui-state-delta", event.delta);
        case EventType.STEP_STARTED:
          return data("agui-step", { stepName: event.stepName, status: "started" });
        case EventType.STEP_FINISHED:
          return data("agui-step", { stepName: event.stepName, status: "finished" });
        case EventType.SUBAGENT_STARTED:
          return data("agui-subagent", subagent(event, "started"));
        case EventType.SUBAGENT_FINISHED:
          return data("agui-subagent", subagent(event, "finished"));
        case EventType.SUBAGENT_ERROR:
          return data("agui-subagent", subagent(event, "failed"));
        case EventType.ACTIVITY_SNAPSHOT: {
          const { messageId, activityType, content, replace } = event as unknown as Snapshot;
          if (replace === false && activities.has(messageId)) return "";
          return activity(messageId, { type: activityType, content });
        }
        case EventType.ACTIVITY_DELTA:
          return changeActivity(event);
        case EventType.CUSTOM:
          return custom(String(event.name), event.value, options.isOldest);
        default:
          return undefined;
      }
    },
  };
}

interface Activity {
  readonly type: string;
  readonly content: unknown;
}

interface Snapshot {
  readonly messageId: string;
  readonly activityType: string;
  readonly content: unknown;
  readonly replace?: boolean;
}

/** An annotation of the message; the client keeps it with the message and sends it back. */
export function annotate(type: string, value: unknown): string {
  return toLine("8", [{ type, data: value ?? null }]);
}

/** An item of `useChat().data`. */
export function data(type: string, value: unknown): string {
  return convertData([{ type, data: value ?? null }]);
}

// Of an error only what clients may read is in the log: the guard has masked the rest.
function subagent(event: BaseEvent, status: string): Json {
  const { subagentRunId, name, description, result, outcome, message } = event;
  return { id: subagentRunId, status, name, description, result, outcome, message };
}

function custom(name: string, value: unknown, isOldest: boolean): string {
  if (name === "suggested_questions") return annotate(name, value);
  const record = typeof value === "object" && value !== null ? (value as Json) : {};
  const part = isOldest ? undefined : name === "source" ? source(record) : file(name, record);
  return part ?? data(name, value);
}

function source({ id, sourceId, url, title, providerMetadata }: Json): string | undefined {
  if (typeof url !== "string") return undefined;
  const given = id ?? sourceId;
  return toLine("h", {
    sourceType: "url",
    id: typeof given === "string" ? given : url,
    url,
    title: typeof title === "string" ? title : undefined,
    providerMetadata: providerMetadata ?? undefined,
  });
}

function file(name: string, value: Json): string | undefined {
  if (name !== "file") return undefined;
  const { url, data: bytes, mimeType = value.mediaType } = value;
  if (typeof bytes === "string" && typeof mimeType === "string") {
    return toLine("k", { data: bytes, mimeType });
  }
  // The part holds the bytes themselves: a link stays data.
  const [, type, inline] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? [];
  return inline === undefined ? undefined : toLine("k", { data: inline, mimeType: type });
}
