import { AgentError } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { Clock, Pending, RunAgentInput, Session } from "@holodeck/agui-core";

/**
 * An approval is valid only if this server asked for it, it has not expired, and it is used once.
 */
export function assertResume(
  { resume }: RunAgentInput,
  { pending, threadId }: Pick<Session, "pending" | "threadId">,
  clock: Clock,
): void {
  if (resume === undefined || resume.length === 0) return;
  const used = new Set<string>();
  for (const { interruptId } of resume) {
    const asked = pending.find(({ id, kind }) => kind === "interrupt" && id === interruptId);
    if (asked && !used.has(interruptId) && !isExpired(asked, clock)) {
      used.add(interruptId);
      continue;
    }
    throw new AgentError(
      "unknown-interrupt",
      `Thread "${threadId}" has no open interrupt "${interruptId}".`,
    );
  }
}

function isExpired({ value }: Pending, clock: Clock): boolean {
  const { expiresAt } = value;
  // Not a date: nothing that could have passed.
  return typeof expiresAt === "string" && Date.parse(expiresAt) <= dateOf(clock);
}
