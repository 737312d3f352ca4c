import { AgentError } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";

/** Throws unless the offsets of the entries go on after the last one that is stored. */
export function assertFollows(runId: string, last: number, entries: readonly LogEntry[]): void {
  for (const { from, to } of entries) {
    if (from !== last + 1 || to < from) {
      throw new AgentError("internal", `Run "${runId}": offset ${from} does not follow ${last}.`);
    }
    last = to;
  }
}
