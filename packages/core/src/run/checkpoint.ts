import { SafeLogger } from "../base/logger.ts";
import type { RunContext } from "../contract/context.ts";
import type { RunView } from "../view/run-view.ts";
import type { RunPersistence, RunSettings } from "./types.ts";

/** A run whose log is about to be trimmed. */
export interface TrimmedRun {
  readonly settings: RunSettings;
  readonly context: RunContext;
  readonly view: RunView;
  readonly delivered: number;
  readonly keeper: RunPersistence;
}

/**
 * Stores how far a run has come. A client that joins through another process folds the log over the session:
 * what the log is about to lose has to be in the session by then.
 */
export function storeCheckpoint(run: TrimmedRun): void {
  const { keeper, settings, context } = run;
  if (!keeper.checkpoint) return;
  write(run).catch((error: unknown) => {
    new SafeLogger(settings.logger).warn({ error, runId: context.runId }, "A checkpoint failed.");
  });
}

async function write({ keeper, view, delivered }: TrimmedRun): Promise<unknown> {
  const { messages, state, times } = view;
  return keeper.checkpoint!({ messages, state, offset: delivered, open: view.open(), times });
}
