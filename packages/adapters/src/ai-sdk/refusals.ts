import { AgentError } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import type { Turn } from "../_turn.ts";

/** Calls that the AI SDK does not make: the tool is unknown, or the arguments cannot be parsed. */
export interface Refusals {
  add(id: string, call: { readonly name: string; readonly cause: unknown }): void;
  has(id: string): boolean;
  /** Returns the results of those that were not sent yet. */
  takeEvents(): BaseEvent[];
}

/**
 * Refusals are sent at the end of a step. Output of the model after one takes it into account; if there is
 * none, the model has not received it: that is how a tool loop decides whether to continue.
 */
export function createRefusals(turn: Turn): Refusals {
  const refused = new Set<string>();
  const unsent = new Map<string, AgentError>();
  return {
    add(id, call) {
      refused.add(id);
      unsent.set(id, toError(call));
    },
    has: (id) => refused.has(id),
    takeEvents() {
      const events = [...unsent].flatMap(([id, error]) => turn.failure(id, error));
      unsent.clear();
      return events;
    },
  };
}

function toError({ name, cause }: { name: string; cause: unknown }): AgentError {
  const isUnknown = cause instanceof Error && cause.name === "AI_NoSuchToolError";
  return isUnknown
    ? new AgentError("unknown-tool", `There is no tool "${name}".`, { cause })
    : new AgentError("invalid-arguments", `The arguments of "${name}" are not valid.`, { cause });
}
