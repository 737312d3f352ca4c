import { AgentError } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import type { Turn } from "../_turn.ts";

/** Calls that the AI SDK does not make: it knows no such tool, or cannot read the arguments. */
export interface Refusals {
  add(id: string, call: { readonly name: string; readonly cause: unknown }): void;
  has(id: string): boolean;
  /** The results of those that were not told yet. */
  tell(): BaseEvent[];
}

/**
 * Refusals are told at the end of a step. What the model says after one is then said in the knowledge of
 * it, and when it says nothing more it has not heard of it: that is how a tool loop knows whether to go on.
 */
export function createRefusals(turn: Turn): Refusals {
  const refused = new Set<string>();
  const untold = new Map<string, AgentError>();
  return {
    add(id, call) {
      refused.add(id);
      untold.set(id, toError(call));
    },
    has: (id) => refused.has(id),
    tell() {
      const events = [...untold].flatMap(([id, error]) => turn.failure(id, error));
      untold.clear();
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
