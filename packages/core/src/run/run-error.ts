import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import { AgentError } from "../contract/errors.ts";
import { noOffset } from "../delta/merged-entry.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";

/** The error of a run by its terminal event. Returns undefined when the run did not fail. */
export function errorOf(terminal: BaseEvent): AgentError | undefined {
  if (terminal.type !== EventType.RUN_ERROR) return undefined;
  const { code, message } = terminal as { code?: string; message?: string };
  return new AgentError(
    (code ?? "agent-error") as AgentError["code"],
    message ?? "The run failed.",
  );
}

/** The error of a run that another process has taken over or ended. */
export function lostRun(): AgentError {
  return new AgentError("run-lost", "The run was lost.");
}

/** An error as the end of a run. No log has this entry. */
export function toErrorEntry({ message, code }: AgentError, at: number): SizedEntry {
  const event = { type: EventType.RUN_ERROR, message, code };
  return { from: noOffset, to: noOffset, at, event, size: 64 };
}
