import { AgentError } from "@holodeck/agui-core";
import type { Fault, Json } from "@holodeck/agui-core";
import type { schemas } from "./schemas.ts";

/** What clients send, besides the input of a run. */
export interface Bodies {
  readonly connect: { threadId: string; protocolVersion?: string | undefined };
  readonly stop: { runId?: string | undefined };
  readonly envelope: { method: string; params?: Json | undefined; body?: unknown };
  readonly resource: { path: string; httpMethod: string };
  readonly change: { name?: string | null | undefined; archived?: boolean | undefined };
  readonly archive: { agentId?: string | undefined };
  readonly list: {
    agentId?: string | undefined;
    includeArchived?: "true" | "false" | undefined;
    limit: number;
    cursor?: string | undefined;
  };
}

/** What is answered in JSON. */
export type AnswerKind =
  | "stopped"
  | "threads"
  | "thread"
  | "archived"
  | "deleted"
  | "messages"
  | "events"
  | "state";

/** The schemas, loaded on first use: zod costs more than everything else here. */
export async function loadBodies(): Promise<typeof schemas> {
  return (await import("./schemas.ts")).schemas;
}

/** A body as its schema has it; a wrong one is refused with everything that is wrong with it. */
export async function checkBody<K extends keyof Bodies>(
  kind: K,
  body: unknown,
): Promise<Bodies[K]> {
  const { [kind]: schema } = await loadBodies();
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data;
  const errors = error.issues.map(({ path, message }): Fault => {
    const at = path.map(String).join(".");
    return { path: at, message: at === "" ? message : `${at}: ${message}` };
  });
  throw new AgentError("invalid-request", `The body is not valid: ${errors[0]?.message}`, {
    errors,
  });
}
