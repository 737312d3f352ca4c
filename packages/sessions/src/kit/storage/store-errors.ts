import { AgentError } from "@holodeck/agui-core";
import type { ThreadKey } from "@holodeck/agui-core";

/** For `create` of a thread that is stored already. */
export function sessionExists({ threadId }: ThreadKey): AgentError {
  return new AgentError("run-exists", `Session "${threadId}" already exists.`);
}

/** For `update` of a thread that is not stored. */
export function sessionNotFound({ threadId }: ThreadKey): AgentError {
  return new AgentError("session-not-found", `There is no session "${threadId}".`);
}

/** For `create` when the store is full. */
export function tooManySessions(maxSessions: number | undefined): AgentError {
  return new AgentError(
    "capacity-exceeded",
    `The store is at its limit of ${maxSessions} sessions.`,
    { retryAfter: 5 },
  );
}

/** For `read` of a run that is not stored. */
export function runNotFound(runId: string): AgentError {
  return new AgentError("run-not-found", `There is no run "${runId}".`);
}

/** For every write with a lease that the store has given to another process, or ended. */
export function runLost(runId: string): AgentError {
  return new AgentError("run-lost", `Run "${runId}" is not owned by this process.`);
}

/** For entries that do not go on after the last one that is stored. */
export function doesNotFollow(runId: string, from: number, last: number | string): AgentError {
  return new AgentError("internal", `Run "${runId}": offset ${from} does not follow ${last}.`);
}

/** For a reader of entries that the store has removed; `first` is the oldest offset that is left. */
export function replayGone(runId: string, first: number, after: number): AgentError {
  return new AgentError(
    "replay-gone",
    `Run "${runId}" can be read from offset ${first}; ${after + 1} was trimmed.`,
  );
}

/** For `update` when other processes changed the thread each time it was tried. */
export function tooManyWrites({ threadId }: ThreadKey): AgentError {
  return new AgentError("thread-busy", `Session "${threadId}" has too many concurrent writes.`);
}

/** For readers that wait while their store is closed. */
export function storeClosed(): AgentError {
  return new AgentError("shutting-down", "The store was closed.");
}

/** For every call that the database did not answer, or answered with a failure. */
export function storeUnavailable(cause: unknown): AgentError {
  return new AgentError("store-unavailable", "The store is not reachable.", {
    cause,
    retryAfter: 2,
  });
}

/** For every call that the database can answer and may not carry out: it is full, read-only, or lacks replicas. */
export function storeRefuses(cause: unknown): AgentError {
  return new AgentError("store-unavailable", "The store refuses writes.", { cause, retryAfter: 2 });
}
