import { EventType } from "@ag-ui/core";
import type { JsonPatchOperation } from "@ag-ui/core";
import { applyPatch } from "@holodeck/agui-core";
import type { CheckId } from "../report/catalogue.ts";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport } from "../types.ts";

/** Keeps the state and the activities as a client would, and reports patches that do not apply. */
export function createDocuments(
  state: unknown,
  report: CheckReport,
): { take(read: ReadEvent): void } {
  const activities = new Map<string, unknown>();

  function patch(id: CheckId, document: unknown, operations: unknown): unknown {
    try {
      return applyPatch(document, operations as JsonPatchOperation[]);
    } catch (error) {
      report.break(id, `${(error as Error).message} The patch: ${JSON.stringify(operations)}`);
      return document;
    }
  }

  return {
    take({ event, line }) {
      const id = toShownText(event["messageId"]);
      switch (event.type) {
        case EventType.STATE_SNAPSHOT:
          report.show("state");
          state = event["snapshot"];
          return;
        case EventType.STATE_DELTA:
          report.show("state");
          state = patch("state", state, event["delta"]);
          return;
        case EventType.ACTIVITY_SNAPSHOT:
          report.show("activities");
          if (event["replace"] !== false || !activities.has(id)) {
            activities.set(id, event["content"]);
          }
          return;
        case EventType.ACTIVITY_DELTA:
          report.show("activities");
          if (!activities.has(id)) return report.break("activities", `Nothing to patch: ${line}`);
          activities.set(id, patch("activities", activities.get(id), event["patch"]));
          return;
        default:
      }
    },
  };
}
