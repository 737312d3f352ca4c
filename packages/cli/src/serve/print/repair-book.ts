import type { Logger } from "@holodeck/agui";

/** What the guard had to repair in one stage of a run. */
interface RepairReport {
  readonly stage: string;
  readonly repairs: Readonly<Record<string, number>>;
  readonly first: unknown;
}

/** Remembers the repairs of the last runs, for the page. */
export interface RepairBook {
  /** The same logger; its records about repairs are kept. */
  listen(logger: Logger): Logger;
  of(runId: string): readonly RepairReport[];
}

/** Keeps the repairs of so many runs, the oldest are forgotten first. */
export function createRepairBook(runs = 200): RepairBook {
  const reports = new Map<string, RepairReport[]>();

  function keep(fields: object): void {
    const { runId, stage, repairs, first } = fields as Record<string, unknown>;
    if (typeof runId !== "string" || typeof stage !== "string" || !isCounts(repairs)) return;
    const known = reports.get(runId);
    if (known) {
      known.push({ stage, repairs, first });
      return;
    }
    reports.set(runId, [{ stage, repairs, first }]);
    if (reports.size > runs) reports.delete(reports.keys().next().value!);
  }

  return {
    listen: (logger) => ({
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn(fields, message) {
        keep(fields);
        logger.warn(fields, message);
      },
      error: (fields, message) => logger.error(fields, message),
    }),
    of: (runId) => reports.get(runId) ?? [],
  };
}

function isCounts(value: unknown): value is Record<string, number> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((count) => typeof count === "number")
  );
}
