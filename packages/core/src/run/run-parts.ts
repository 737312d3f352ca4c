import type { BaseEvent } from "@ag-ui/core";
import { AgentError, isAgentError } from "../contract/errors.ts";
import { copyJson } from "../json/copy.ts";
import type { Awaitable } from "../contract/agent.ts";
import type { Lease, RunStatus } from "../contract/run-log.ts";

/** Calls the listener when the lease is lost, but never before this function has returned. */
export function onLost(lease: Lease, listener: () => void): void {
  let hasReturned = false;
  lease.onLost(() => (hasReturned ? listener() : queueMicrotask(listener)));
  hasReturned = true;
}

// What the guard made is its own, but may hold objects of the author's.
export function copyEvent(event: BaseEvent, isForeign: boolean): BaseEvent {
  for (const key in event) {
    const member = event[key];
    if (typeof member === "object" && member !== null) return copyJson(event) as BaseEvent;
  }
  return isForeign ? { ...event } : event;
}

export function statusOf(terminal: BaseEvent): RunStatus {
  if (terminal.type === "RUN_ERROR") return "failed";
  return (terminal.outcome as { type?: string } | undefined)?.type === "cancelled"
    ? "cancelled"
    : "finished";
}

export function errorOf(terminal: BaseEvent): AgentError | undefined {
  if (terminal.type !== "RUN_ERROR") return undefined;
  const { code, message } = terminal as { code?: string; message?: string };
  return new AgentError(
    (code ?? "agent-error") as AgentError["code"],
    message ?? "The run failed.",
  );
}

/** How a run ends whose store refused or failed to keep it. */
export function failureOf(error: unknown): AgentError {
  if (isAgentError(error) && error.code === "run-lost") return lostRun();
  return new AgentError("store-unavailable", "The run could not be stored.");
}

/** How a run ends that another process has taken over or ended. */
export function lostRun(): AgentError {
  return new AgentError("run-lost", "The run was lost.");
}

// In-process stores answer at once: no promise, no turn of the event loop between two steps.
export function after<T, U>(first: Awaitable<T>, then: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(first) ? first.then(then) : then(first);
}

export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
