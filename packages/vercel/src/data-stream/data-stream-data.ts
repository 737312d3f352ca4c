import { asText, isRecord } from "@holodeck/agui-core/internal";
import { applyPatch, EventType, PatchError } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { convertData, toLine } from "./convert.ts";

/** What data parts depend on. */
export interface DataStreamDataOptions {
  /** The parser of AI SDK 3.4, which has no codes for sources and files. */
  readonly isOldest: boolean;
  /** The text that the client receives for a subagent's failure. */
  readonly describeFailure: (event: BaseEvent) => string;
}

/**
 * Writes the events that are data to the client and no part of the answer: state, activities, steps,
 * subagents, events of one's own. Nothing for an event that is none of them.
 */
export class DataStreamData {
  readonly #options: DataStreamDataOptions;
  readonly #activities = new Map<string, { type: string; content: unknown }>();
  readonly #subagents = new Map<string, Json>();

  constructor(options: DataStreamDataOptions) {
    this.#options = options;
  }

  encode(event: BaseEvent): string {
    switch (event.type) {
      case EventType.STATE_SNAPSHOT:
        return data("agui-state", event.snapshot);
      case EventType.STATE_DELTA:
        return data("agui-state-delta", event.delta);
      case EventType.STEP_STARTED:
      case EventType.STEP_FINISHED: {
        const { stepName, subagentRunId } = event;
        const status = event.type === EventType.STEP_STARTED ? "running" : "done";
        return data("agui-step", { stepName, status, subagentRunId });
      }
      case EventType.SUBAGENT_STARTED: {
        const { name, description, parentToolCallId } = event;
        return this.#showSubagent(event, {
          name,
          description,
          parentToolCallId,
          status: "running",
        });
      }
      case EventType.SUBAGENT_FINISHED:
        return this.#showSubagent(event, { result: event.result, status: "done" });
      case EventType.SUBAGENT_ERROR: {
        const errorText = this.#options.describeFailure(event);
        return this.#showSubagent(event, { errorText, status: "failed" });
      }
      case EventType.ACTIVITY_SNAPSHOT: {
        const id = asText(event.messageId) ?? "";
        if (event.replace === false && this.#activities.has(id)) return "";
        return this.#showActivity(id, asText(event.activityType) ?? "", event.content);
      }
      case EventType.ACTIVITY_DELTA:
        return this.#patchActivity(asText(event.messageId) ?? "", event.patch);
      case EventType.CUSTOM:
        return showCustom(asText(event.name) ?? "", event.value, this.#options.isOldest);
      default:
        return "";
    }
  }

  #showActivity(id: string, type: string, content: unknown): string {
    this.#activities.set(id, { type, content });
    // A workflow's events belong to the message, in the form that chat UIs know them in.
    return type === "agent" ? annotate(type, content) : data(type, content, id);
  }

  #patchActivity(id: string, patch: unknown): string {
    const known = this.#activities.get(id);
    if (!known) return "";
    try {
      const operations = patch as Parameters<typeof applyPatch>[1];
      return this.#showActivity(id, known.type, applyPatch(known.content, operations));
    } catch (error) {
      // A client keeps what it has when a patch does not apply.
      if (error instanceof PatchError) return "";
      throw error;
    }
  }

  #showSubagent(event: BaseEvent, more: Json): string {
    const id = asText(event.subagentRunId) ?? "";
    const subagent = { ...this.#subagents.get(id), ...more };
    this.#subagents.set(id, subagent);
    return data("agui-subagent", subagent, id);
  }
}

/** An annotation: the client keeps it with the message and sends it back. */
export function annotate(type: string, value: unknown): string {
  return toLine("8", [{ type, data: value ?? null }]);
}

/** An item of `useChat().data`. One with an id takes the place of an earlier one with the same id. */
export function data(type: string, value: unknown, id?: string): string {
  return convertData([{ type, id, data: value ?? null }]);
}

function showCustom(name: string, value: unknown, isOldest: boolean): string {
  if (name === "suggested_questions") return annotate(name, value);
  const part = isOldest || !isRecord(value) ? undefined : toPart(name, value);
  return part ?? data(name, value);
}

function toPart(name: string, { url, mediaType, title, sourceId }: Json): string | undefined {
  if (typeof url !== "string") return undefined;
  if (name === "source-url") {
    const id = asText(sourceId) ?? url;
    return toLine("h", { sourceType: "url", id, url, title: asText(title) });
  }
  if (name !== "file") return undefined;
  // The part holds the bytes themselves: a link stays data.
  const [, type = "", bytes] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  if (bytes === undefined) return undefined;
  return toLine("k", { data: bytes, mimeType: asText(mediaType) ?? type });
}
