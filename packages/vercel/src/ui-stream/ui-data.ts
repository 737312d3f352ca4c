import { asText, isRecord } from "@holodeck/agui-core/internal";
import { applyPatch, EventType, PatchError } from "@holodeck/agui-core";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { defined } from "../shared/json.ts";
import type { UiFrames } from "./ui-frames.ts";

/** Sends the events that are data parts: state, activities, steps and subagents. */
export class UiData {
  readonly #frames: UiFrames;
  readonly #describeFailure: (event: BaseEvent) => string;
  readonly #activities = new Map<string, Json>();
  readonly #subagents = new Map<string, Json>();
  #state: { value: unknown } | undefined;

  constructor(frames: UiFrames, describeFailure: (event: BaseEvent) => string) {
    this.#frames = frames;
    this.#describeFailure = describeFailure;
  }

  encode(event: BaseEvent): void {
    switch (event.type) {
      case EventType.STATE_SNAPSHOT:
        return this.#showState({ value: event.snapshot });
      case EventType.STATE_DELTA:
        return this.#patchState(event.delta);
      case EventType.ACTIVITY_SNAPSHOT:
        return this.#showActivity(event, asText(event.messageId) ?? "");
      case EventType.ACTIVITY_DELTA:
        return this.#patchActivity(event, asText(event.messageId) ?? "");
      case EventType.STEP_STARTED:
        return this.#showStep(event, "running");
      case EventType.STEP_FINISHED:
        return this.#showStep(event, "done");
      case EventType.SUBAGENT_STARTED: {
        const { name, description, parentToolCallId } = event;
        const more = defined({ name, description, parentToolCallId });
        return this.#showSubagent(event, { ...more, status: "running" });
      }
      case EventType.SUBAGENT_FINISHED:
        return this.#showSubagent(event, { ...defined({ result: event.result }), status: "done" });
      case EventType.SUBAGENT_ERROR: {
        const errorText = this.#describeFailure(event);
        return this.#showSubagent(event, { errorText, status: "failed" });
      }
      default:
    }
  }

  #showState(state: { value: unknown }): void {
    this.#state = state;
    this.#frames.writeData("agui-state", "state", state.value);
  }

  #patchState(patch: unknown): void {
    const next = this.#state && patched(this.#state.value, patch);
    if (next) return this.#showState(next);
    // Without a snapshot to start from, only the change can be sent.
    this.#frames.write({ type: "data-agui-state-delta", data: patch ?? [], transient: true });
  }

  #showActivity(event: BaseEvent, id: string): void {
    if (this.#activities.has(id) && event.replace === false) return;
    const content = isRecord(event.content) ? event.content : {};
    this.#activities.set(id, content);
    this.#frames.writeData(asText(event.activityType) ?? "", id, content);
  }

  #patchActivity(event: BaseEvent, id: string): void {
    const before = this.#activities.get(id);
    const next = before && patched(before, event.patch);
    if (!next || !isRecord(next.value)) return;
    this.#activities.set(id, next.value);
    this.#frames.writeData(asText(event.activityType) ?? "", id, next.value);
  }

  #showStep({ stepName, subagentRunId }: BaseEvent, status: "running" | "done"): void {
    const step = { stepName, status, ...defined({ subagentRunId }) };
    this.#frames.writeData("agui-step", `step:${String(stepName)}`, step);
  }

  #showSubagent(event: BaseEvent, more: Json): void {
    const id = asText(event.subagentRunId) ?? "";
    const data = { ...this.#subagents.get(id), ...more };
    this.#subagents.set(id, data);
    this.#frames.writeData("agui-subagent", id, data);
  }
}

function patched(value: unknown, patch: unknown): { value: unknown } | undefined {
  try {
    return { value: applyPatch(value, patch as Parameters<typeof applyPatch>[1]) };
  } catch (error) {
    // A client keeps what it has when a patch does not apply.
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}
