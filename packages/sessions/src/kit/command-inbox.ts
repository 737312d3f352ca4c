import type { RunCommand } from "@holodeck/agui-core";

export type CommandListener = (command: RunCommand) => void;

/** The commands that arrive for a run of this process. */
export interface CommandInbox {
  deliver(command: RunCommand): void;
  /** Returns a function that removes the listener. */
  listen(on: CommandListener): () => void;
}

/** Keeps the commands that arrive before the run listens, for its first listener. */
export function createCommandInbox(): CommandInbox {
  const listeners = new Set<CommandListener>();
  /** Absent once they were delivered. */
  let early: RunCommand[] | undefined = [];

  function deliver(command: RunCommand): void {
    if (early) early.push(command);
    else for (const listener of listeners) listener(command);
  }

  function deliverEarly(): void {
    if (!early || listeners.size === 0) return;
    const kept = early;
    early = undefined;
    kept.forEach(deliver);
  }

  return {
    deliver,
    listen(on) {
      listeners.add(on);
      // Deferred, so that the caller can unsubscribe after the first one.
      if (early?.length) queueMicrotask(deliverEarly);
      else early = undefined;
      return () => void listeners.delete(on);
    },
  };
}
