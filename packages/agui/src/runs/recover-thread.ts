import { foldRun, toPendingAfterLoss } from "@holodeck/agui-core/internal";
import type { Lease, RunKey, Session, TakenCall } from "@holodeck/agui-core";
import { withLosses } from "./history/taken-calls.ts";
import { markIncomplete } from "./history/thread-record.ts";
import { isTooLarge } from "./history/thread-bytes.ts";
import type { Settings } from "../options/options.ts";

/** A thread whose last run was cut short, and the calls of that run that have no result. */
interface Recovered {
  readonly session: Session;
  readonly lost: readonly TakenCall[] | undefined;
}

interface RecoverOptions {
  readonly settings: Settings;
  /** Names of the tools that run on the server. */
  readonly serverTools: ReadonlySet<string>;
}

const nothing: readonly never[] = Object.freeze([]);

/** Whether the process of the last run died, or the run lost its lease. */
export function isCutShort({ active }: Session, { runId }: RunKey): boolean {
  return active !== undefined && active.runId !== runId;
}

/** The thread with what the log of its last run has. */
export async function recoverThread(
  session: Session,
  lease: Lease,
  { settings, serverTools }: RecoverOptions,
): Promise<Recovered> {
  const { sessions, logger, trustClientHistory } = settings;
  const { principal, threadId, runId } = lease;
  const key = { principal, threadId, runId };
  const active = session.active!;
  const record = await sessions.runs.find(principal, active.runId);
  if (!record) {
    const { messages, lost } = withLosses(session.messages, active.taken);
    return { session: await sessions.update(key, { messages, active: null }, { lease }), lost };
  }
  const { view } = await foldRun(sessions.runs, record, session);
  const said = markIncomplete(view.messages, session.messages);
  const { messages, lost } = withLosses(said, active.taken);
  logger.warn({ threadId, runId: active.runId }, "An interrupted run was recovered.");
  const pending = toPendingAfterLoss(active.runId, { messages, pending: session.pending }, (name) =>
    serverTools.has(name),
  );
  const { times, state } = view;
  // Which tools middleware and agents brought into the lost run is unknown: results of its calls are claims.
  const open = pending.flatMap(({ id, kind, runId }) =>
    kind === "tool" && runId === active.runId ? id : [],
  );
  const claimed = trustClientHistory ? session.claimed : [...(session.claimed ?? nothing), ...open];
  const lastRunId = active.runId;
  const maxBytes = settings.limits.sessionBytes;
  const change = { messages, pending, claimed, times, state, lastRunId, active: null, maxBytes };
  try {
    return { session: await sessions.update(key, change, { lease }), lost };
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    // As when such a run ends: its thread stays as it was, and goes on.
    logger.warn({ error, threadId, runId: lastRunId }, "An interrupted run was not stored.");
    return { session: await sessions.update(key, { lastRunId, active: null }, { lease }), lost };
  }
}
