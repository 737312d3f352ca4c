import { AgentError, isAgentError } from "../../contract/errors.ts";
import { toErrorEntry } from "../run-error.ts";
import type { Follower } from "./follower.ts";

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

// Of an error of ours, its code; of any other only that the log could not be read.
function failureOf(error: unknown): AgentError {
  if (isAgentError(error)) return error;
  return new AgentError("store-unavailable", "The run could not be read.");
}
