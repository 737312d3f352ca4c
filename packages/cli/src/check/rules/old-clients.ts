import { EventType } from "@ag-ui/core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { ReadEvent, CheckReport } from "../types.ts";

/** Looks for what clients of 0.0.x cannot read, in the answer to one. */
export function checkForOldClient({ event, line }: ReadEvent, report: CheckReport): void {
  switch (event.type) {
    case EventType.TEXT_MESSAGE_CONTENT:
    case EventType.TOOL_CALL_ARGS:
    case EventType.REASONING_MESSAGE_CONTENT:
      report.show("empty-deltas");
      if (event["delta"] === "") report.break("empty-deltas", line);
      return;
    case EventType.TOOL_CALL_RESULT:
      if (Array.isArray(event["content"])) report.break("old-clients", line);
      return;
    case EventType.RUN_FINISHED: {
      const { outcome } = event;
      if (!isRecord(outcome)) return;
      const isNew = outcome["type"] === "cancelled" || "pendingToolCallIds" in outcome;
      if (isNew) report.break("old-clients", line);
      return;
    }
    default:
  }
}
