import { EventType } from "@ag-ui/core";
import { AgentError, isAgentError } from "../contract/errors.ts";
import { noOffset } from "../delta/merged-entry.ts";
import type { Follower } from "./follower.ts";
import type { SizedEntry } from "../delta/merged-entry.ts";

/** Ends a client whose log cannot be read: with a terminal event, and then its connection. */
export function endReplay(follower: Follower, error: unknown, at: number): void {
  try {
    follower.deliver([toErrorEntry(failureOf(error), at)]);
    follower.close();
  } catch {
    // Its encoder failed; there is nothing that could still be sent.
    follower.cut();
  }
}

/** An error as the end of a run that no log has. */
export function toErrorEntry({ message, code }: AgentError, at: number): SizedEntry {
  const event = { type: EventType.RUN_ERROR, message, code };
  return { from: noOffset, to: noOffset, at, event, size: 64 };
}

// Of an error of ours, its code; of any other only that the log could not be read.
function failureOf(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  return new AgentError("store-unavailable", "The run could not be read.");
}
