import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";

/** Whether an event ends its run. */
export function isTerminal({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR;
}
