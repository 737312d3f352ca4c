import { lostEntry } from "@holodeck/agui-sessions/kit";
import { dateOf, isRequestBound } from "@holodeck/agui-core/internal";
import type { Clock, Logger } from "@holodeck/agui-core";
import type { LiveRun } from "@holodeck/agui-core/internal";
import type { RunRegistry } from "../registry.ts";

/**
 * Ends the runs whose request was ended by its host, where timers belong to requests: nothing of such a run goes on, so
 * another request closes its log, which frees its thread.
 */
export function createForsakenCheck(
  { live }: RunRegistry,
  { clock, logger }: { clock: Clock; logger: Logger },
): () => void {
  async function close({ lease: held, context }: LiveRun): Promise<void> {
    const { runId, threadId } = context;
    logger.warn({ runId, threadId }, "The request of a run has ended before the run.");
    if (!held) return;
    const { runs, lease } = held;
    try {
      const record = await runs.find(lease.principal, runId);
      if (record?.status !== "running") return;
      await runs.close(lease, lostEntry(record.last + 1, dateOf(clock)), "lost");
    } catch (error) {
      logger.warn({ error, runId, threadId }, "The log of a lost run could not be closed.");
    }
  }

  return () => {
    if (!isRequestBound) return;
    for (const [id, run] of live.entries()) {
      if (!run.isForsaken) continue;
      live.delete(id);
      void close(run);
    }
  };
}
