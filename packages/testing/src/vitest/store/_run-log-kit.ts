import type { RunLog } from "@holodeck/agui-core";
import type { DefineCase, StoreBench, StoreSetup } from "./_store-bench.ts";

export const thread = { principal: "ann", threadId: "t1" } as const;
export const key = { principal: "ann", threadId: "t1", runId: "r1" } as const;
export const init = { agentId: "agent", protocolVersion: "1.0" } as const;
export const leaseMs = 1_000;

/** What the cases of a run log are made with. */
export interface RunLogKit {
  readonly bench: StoreBench;
  readonly define: DefineCase;
  openLog(setup?: StoreSetup): Promise<RunLog>;
  openSecondLog(): Promise<RunLog>;
}
