import { SafeLogger } from "../base/logger.ts";
import type { Guard } from "./guard.ts";
import type { RunContext } from "../contract/context.ts";

/** Tells the author once per run what had to be repaired, and in which stage. */
export function reportRepairs(
  context: RunContext,
  stage: "agent" | "middleware",
  guard: Pick<Guard, "repairs" | "firstRepair">,
): void {
  // Asked first: a guard that repaired nothing has no book of it.
  if (guard.firstRepair === undefined) return;
  new SafeLogger(context.logger).warn(
    {
      runId: context.runId,
      threadId: context.threadId,
      agentId: context.agentId,
      stage,
      repairs: Object.fromEntries(guard.repairs),
      first: guard.firstRepair,
    },
    `Events of the ${stage} were repaired; \`strict: true\` turns this into an error.`,
  );
}
