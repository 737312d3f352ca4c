import { EventType } from "@holodeck/agui-core";
import type { LogEntry, RunRecord } from "@holodeck/agui-core";

/** The event that ends a run whose owner is gone. */
export const lostEvent: LogEntry["event"] = {
  type: EventType.RUN_ERROR,
  message: "The process that ran the agent has ended.",
  code: "run-lost",
};

/** The entry that ends a run whose owner is gone. */
export function lostEntry(offset: number, at: number): LogEntry {
  return { from: offset, to: offset, at, event: lostEvent };
}

/** Whether the id of a run is taken. One whose log contains only its end never started. */
export function isUsedRun({ status, last }: Pick<RunRecord, "status" | "last">): boolean {
  return status === "running" || last > 1;
}
