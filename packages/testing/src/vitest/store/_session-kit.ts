import type { Message, Session } from "@holodeck/agui-core";
import type { DefineCase, StoreBench } from "./_store-bench.ts";

export const key = { principal: "ann", threadId: "t1" } as const;
export const run = { principal: "ann", threadId: "t1", runId: "r1" } as const;
export const init = { agentId: "agent" } as const;
export const ttlMs = 1_000;
export const hour = 3_600_000;

/** What the cases of a session store are made with. */
export interface SessionKit {
  readonly bench: StoreBench;
  readonly define: DefineCase;
}

export const user = (id: string, content: string = id): Message => ({ id, role: "user", content });

export const assistant = (id: string, content: string = id): Message => ({
  id,
  role: "assistant",
  content,
});

export const idsOf = (session: Session | undefined): string[] =>
  session!.messages.map(({ id }) => id);
