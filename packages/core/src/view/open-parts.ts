import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import type { Json } from "../contract/agent.ts";

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

/** The order in which a late client must receive open parts: owners before what they own. */
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

/** Remembers what is open in a run. */
export class OpenParts {
  // Nearly always one thing at a time, which needs no map: there is one of these per run.
  #only: OpenPart | undefined = undefined;
  #others: Map<string, OpenPart> | undefined = undefined;

  apply(event: BaseEvent): void {
    const { type } = event;
    if (
      type === EventType.RUN_STARTED ||
      type === EventType.RUN_FINISHED ||
      type === EventType.RUN_ERROR
    ) {
      this.#only = undefined;
      this.#others = undefined;
      return;
    }
    const rule = rules[type];
    if (!rule) return;
    const [kind, member, opens] = rule;
    const part: OpenPart = { kind, id: String((event as Json)[member]), event };
    if (opens) this.#open(part);
    else this.#close(part);
  }

  list(): readonly OpenPart[] {
    const parts = [...(this.#others?.values() ?? [])];
    if (this.#only) parts.unshift(this.#only);
    return order.flatMap((kind) => parts.filter((part) => part.kind === kind));
  }

  #open(part: OpenPart): void {
    const isOnly = this.#only ? isSame(this.#only, part) : !this.#others?.size;
    if (isOnly) this.#only = part;
    else (this.#others ??= new Map()).set(keyOf(part), part);
  }

  #close(part: OpenPart): void {
    if (this.#only && isSame(this.#only, part)) this.#only = undefined;
    else this.#others?.delete(keyOf(part));
  }
}

// Two subagents may have a step of the same name open.
function isSame(one: OpenPart, other: OpenPart): boolean {
  if (one.kind !== other.kind || one.id !== other.id) return false;
  return one.kind !== "step" || one.event.subagentRunId === other.event.subagentRunId;
}

function keyOf({ kind, id, event }: OpenPart): string {
  return `${kind} ${kind === "step" ? JSON.stringify([event.subagentRunId, id]) : id}`;
}
