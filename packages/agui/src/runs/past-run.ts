import { AgentError } from "@holodeck/agui-core";
import type { PastRun, RunAgentInput, RunRecord, Session } from "@holodeck/agui-core";

const maxLength = 200;

/**
 * What copies of one request have in common, besides their thread and run: the agent, how many messages, the id
 * of the last one, and which interrupts are answered. Short, since a thread keeps a hundred of them.
 */
export function fingerprintOf({ messages, resume }: RunAgentInput, agentId: string): string {
  const base = `${agentId} ${messages.length} ${messages.at(-1)?.id ?? ""}`;
  const text =
    resume && resume.length > 0
      ? `${base} ${JSON.stringify(resume.map(({ interruptId }) => interruptId))}`
      : base;
  return text.length <= maxLength ? text : `${messages.length} #${hash(text)}`;
}

/** The run of that id that a thread has accepted, if it still knows of it. */
export function findPast(session: Session | undefined, runId: string): PastRun | undefined {
  const runs = session?.pastRuns;
  if (!runs) return undefined;
  for (const run of runs) if (run.runId === runId) return run;
  return undefined;
}

/** How a run is closed whose lease was given back before its agent was called. */
export const givenBack = "cancelled";

/** Whether a run ended before its agent was called: it may be asked for again under its id. */
export function wasGivenBack({ status, last }: RunRecord): boolean {
  return status === givenBack && last <= 1;
}

/** What a request gets whose run id was used before. */
export function runExists(
  runId: string,
  why = "already exists; each run needs a new id",
): AgentError {
  return new AgentError("run-exists", `Run "${runId}" ${why}.`);
}

// 64 bits of FNV-1a: equal for equal texts, and different for those that one user's client makes.
function hash(text: string): string {
  let one = 0x811c9dc5;
  let two = 0x1000193;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x85ebca6b);
  }
  return `${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}`;
}
