import { foldRun, toPendingAfterLoss } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  Lease,
  Message,
  RunKey,
  RunRecord,
  Session,
  SessionChange,
  TakenCall,
} from "@holodeck/agui-core";
import { withLosses } from "../history/taken-calls.ts";
import { markIncomplete } from "../history/thread-record.ts";
import { isTooLarge } from "../history/thread-bytes.ts";
import type { Settings } from "../../options/options.ts";

/** A thread whose last run was cut short, and the calls of that run that have no result. */
interface Recovered {
  readonly session: Session;
  readonly lost: readonly TakenCall[] | undefined;
}

export interface RecoverOptions {
  readonly settings: Settings;
  /** Names of the tools that run on the server. */
  readonly serverTools: ReadonlySet<string>;
}

const nothing: readonly never[] = Object.freeze([]);

/** Whether the process of the last run died, or the run lost its lease. */
export function isCutShort({ active }: Session, { runId }: RunKey): boolean {
  return active !== undefined && active.runId !== runId;
}

/** The thread with what the log of its last run has; for the run that has taken the thread over. */
export async function recoverThread(
  session: Session,
  lease: Lease,
  options: RecoverOptions,
): Promise<Recovered> {
  const { sessions } = options.settings;
  const { principal, threadId, runId } = lease;
  const key = { principal, threadId, runId };
  const active = session.active!;
  const record = await sessions.runs.find(principal, active.runId);
  if (!record) {
    const { messages, lost } = withLosses(session.messages, active.taken);
    return { session: await sessions.update(key, { messages, active: null }, { lease }), lost };
  }
  const { change, lost } = await foldLoss(session, record, options);
  const isNew = active.offset < record.last;
  const write = (one: SessionChange): Awaitable<Session> => sessions.update(key, one, { lease });
  return { session: await store(session, change, { write, isNew, ...options }), lost };
}

/**
 * The thread with what the log of its lost run has; for a reader, who has no lease. The write is bound to the version
 * of the thread that was read: of several readers, and the next run, one writes, and the others are refused with
 * `thread-busy`. A run that had taken answers of a person stays the thread's last run, so that the next one
 * reports the calls that have no result.
 */
export async function recoverForReader(
  session: Session,
  record: RunRecord,
  options: RecoverOptions,
): Promise<Session> {
  const { sessions } = options.settings;
  const { change, recovered: messages, offset } = await foldLoss(session, record, options);
  const { principal, threadId, version, active } = session;
  const { state, times, maxBytes } = change;
  const whole = active?.taken
    ? { messages, state, times, maxBytes, active: { ...active, offset, open: nothing } }
    : change;
  const key = { principal, threadId };
  const write = (one: SessionChange): Awaitable<Session> =>
    sessions.update(key, one, { ifVersion: version });
  return store(session, whole, { write, isNew: true, ...options });
}

interface Writing extends RecoverOptions {
  write(change: SessionChange): Awaitable<Session>;
  /** Whether the log has something that the thread had not. */
  readonly isNew: boolean;
}

async function store(
  { threadId, active }: Session,
  change: SessionChange,
  { write, isNew, settings }: Writing,
): Promise<Session> {
  const { logger } = settings;
  const about = { threadId, runId: active?.runId };
  try {
    const session = await write(change);
    if (isNew) logger.warn(about, "An interrupted run was recovered.");
    return session;
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    // As when such a run ends: its thread stays as it was, and goes on.
    logger.warn({ error, ...about }, "An interrupted run was not stored.");
    const { lastRunId, active: after } = change;
    return write({ ...(lastRunId === undefined ? {} : { lastRunId }), active: after ?? null });
  }
}

interface Loss {
  readonly change: SessionChange;
  /** What the run had sent, without the losses. */
  readonly recovered: readonly Message[];
  /** How far the log was read. */
  readonly offset: number;
  readonly lost: readonly TakenCall[] | undefined;
}

async function foldLoss(
  session: Session,
  record: RunRecord,
  { settings, serverTools }: RecoverOptions,
): Promise<Loss> {
  const { sessions, trustClientHistory } = settings;
  const { runId: lastRunId, taken } = session.active!;
  const { view, offset } = await foldRun(sessions.runs, record, session);
  const recovered = markIncomplete(view.messages, session.messages);
  const { messages, lost } = withLosses(recovered, taken);
  const pending = toPendingAfterLoss(lastRunId, { messages, pending: session.pending }, (name) =>
    serverTools.has(name),
  );
  const { times, state } = view;
  const maxBytes = settings.limits.sessionBytes;
  // Which tools middleware and agents brought into the lost run is unknown: results of its calls are claims.
  const open = pending.flatMap(({ id, kind, runId }) =>
    kind === "tool" && runId === lastRunId ? id : [],
  );
  const claimed = trustClientHistory ? session.claimed : [...(session.claimed ?? nothing), ...open];
  const change = { messages, pending, claimed, times, state, lastRunId, active: null, maxBytes };
  return { change, recovered, offset, lost };
}
