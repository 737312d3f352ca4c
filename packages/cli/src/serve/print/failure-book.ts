import type { Logger } from "@holodeck/agui";
import { ownFrames } from "../stack-frames.ts";

/** Why a run failed, for the author of the agent. */
interface FailureReport {
  readonly message: string;
  /** Where, the user's own code first. */
  readonly frames: readonly string[];
}

/** Remembers why the last runs failed, for the page. */
export interface FailureBook {
  /** The same logger; the errors of runs that it is given are kept. */
  listen(logger: Logger): Logger;
  of(runId: string): FailureReport | undefined;
}

/** Keeps the failures of so many runs, the oldest are forgotten first. */
export function createFailureBook(runs = 200): FailureBook {
  const reports = new Map<string, FailureReport>();

  function keep(fields: object): void {
    const { runId, error } = fields as Record<string, unknown>;
    if (typeof runId !== "string" || !(error instanceof Error) || reports.has(runId)) return;
    reports.set(runId, { message: `${error.name}: ${error.message}`, frames: ownFrames(error) });
    if (reports.size > runs) reports.delete(reports.keys().next().value!);
  }

  return {
    listen: (logger) => ({
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
      error(fields, message) {
        keep(fields);
        logger.error(fields, message);
      },
    }),
    of: (runId) => reports.get(runId),
  };
}
