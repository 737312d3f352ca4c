import type { Message, RunLog, Session } from "@holodeck/agui-core";
import type { DefineCase, StoreBench, StoreSetup } from "./_store-bench.ts";

export const threadKey = { principal: "ann", threadId: "t1" } as const;
export const runKey = { principal: "ann", threadId: "t1", runId: "r1" } as const;
export const sessionInit = { agentId: "agent" } as const;
export const runInit = { agentId: "agent", protocolVersion: "1.0" } as const;
export const ttlMs = 1_000;
export const leaseMs = 1_000;
export const hour = 3_600_000;

/** What the cases of a session store are made with. */
export interface SessionKit {
  readonly bench: StoreBench;
  readonly define: DefineCase;
}

/** What the cases of a run log are made with. */
export interface RunLogKit {
  readonly bench: StoreBench;
  readonly define: DefineCase;
  openLog(setup?: StoreSetup): Promise<RunLog>;
  openSecondLog(): Promise<RunLog>;
}

export const user = (id: string, content: string = id): Message => ({ id, role: "user", content });

export const assistant = (id: string, content: string = id): Message => ({
  id,
  role: "assistant",
  content,
});

export const idsOf = (session: Session | undefined): string[] =>
  session!.messages.map(({ id }) => id);
