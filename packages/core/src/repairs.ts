import { SafeLogger } from "./logger.ts";
import type { Guard } from "./guard.ts";
import type { RunContext } from "./types.ts";

/** Tells the author once per run what had to be repaired, and in which stage. */
export function reportRepairs(
  context: RunContext,
  stage: "agent" | "middleware",
  { repairs, firstRepair }: Pick<Guard, "repairs" | "firstRepair">,
): void {
  if (repairs.size === 0) return;
  new SafeLogger(context.logger).warn(
    {
      runId: context.runId,
      threadId: context.threadId,
      agentId: context.agentId,
      stage,
      repairs: Object.fromEntries(repairs),
      first: firstRepair,
    },
    `Events of the ${stage} were repaired; \`strict: true\` turns this into an error.`,
  );
}
