import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import type { Json } from "./types.ts";

export type OpenKind =
  | "subagent"
  | "step"
  | "reasoning"
  | "reasoning-message"
  | "text"
  | "tool-call";

/** Something that was started and not yet ended. */
export interface OpenPart {
  readonly kind: OpenKind;
  /** The id it is ended by; of a step, its name. */
  readonly id: string;
  /** The event that opened it. */
  readonly event: BaseEvent;
}

export interface OpenParts {
  apply(event: BaseEvent): void;
  list(): readonly OpenPart[];
}

/** The order in which a late client must be told: owners before what they own. */
const order: readonly OpenKind[] = [
  "subagent",
  "step",
  "reasoning",
  "reasoning-message",
  "text",
  "tool-call",
];

const rules: Readonly<Record<string, readonly [kind: OpenKind, id: string, opens: boolean]>> = {
  [EventType.SUBAGENT_STARTED]: ["subagent", "subagentRunId", true],
  [EventType.SUBAGENT_FINISHED]: ["subagent", "subagentRunId", false],
  [EventType.SUBAGENT_ERROR]: ["subagent", "subagentRunId", false],
  [EventType.STEP_STARTED]: ["step", "stepName", true],
  [EventType.STEP_FINISHED]: ["step", "stepName", false],
  [EventType.REASONING_START]: ["reasoning", "messageId", true],
  [EventType.REASONING_END]: ["reasoning", "messageId", false],
  [EventType.REASONING_MESSAGE_START]: ["reasoning-message", "messageId", true],
  [EventType.REASONING_MESSAGE_END]: ["reasoning-message", "messageId", false],
  [EventType.TEXT_MESSAGE_START]: ["text", "messageId", true],
  [EventType.TEXT_MESSAGE_END]: ["text", "messageId", false],
  [EventType.TOOL_CALL_START]: ["tool-call", "toolCallId", true],
  [EventType.TOOL_CALL_END]: ["tool-call", "toolCallId", false],
};

const boundaries: ReadonlySet<EventType> = new Set([
  EventType.RUN_STARTED,
  EventType.RUN_FINISHED,
  EventType.RUN_ERROR,
]);

/** Remembers what is open in a run. */
export function createOpenParts(): OpenParts {
  // One map for all kinds, made when something opens: there is one of these per run.
  let open: Map<string, OpenPart> | undefined;
  return {
    apply(event) {
      const { type } = event;
      if (boundaries.has(type)) {
        open?.clear();
        return;
      }
      const rule = rules[type];
      if (!rule) return;
      const [kind, member, opens] = rule;
      const { [member]: id, subagentRunId } = event as Json;
      // Two subagents may have a step of the same name open.
      const key = `${kind} ${kind === "step" ? JSON.stringify([subagentRunId, id]) : String(id)}`;
      if (opens) (open ??= new Map()).set(key, { kind, id: String(id), event });
      else open?.delete(key);
    },
    list() {
      const parts = [...(open?.values() ?? [])];
      return order.flatMap((kind) => parts.filter((part) => part.kind === kind));
    },
  };
}
