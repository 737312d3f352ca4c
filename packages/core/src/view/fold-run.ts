import { isTerminal } from "./is-terminal.ts";
import { createRunView } from "./run-view.ts";
import type { RunView } from "./run-view.ts";
import type { LogEntry, RunLog, RunRecord } from "../contract/run-log.ts";
import type { Session } from "../contract/session-store.ts";

/** A run of another process, folded up to the end of its log. */
export interface FoldedRun {
  readonly view: RunView;
  readonly offset: number;
  /** Its last event, when it has ended. */
  readonly terminal?: LogEntry;
}

const page = 512;

/** The offset after which a run's log has to be read to fold it over its session. */
export function foldStart(record: RunRecord, session: Session | undefined): number {
  const active = activeIn(session, record);
  // A finished run is in its session, and newer ones may be too: only its end is read.
  if (isHeldBy(session, record) && record.status !== "running") return record.last - 1;
  return active?.offset ?? 0;
}

/** Reads a run's log over its session. Read the session first: what it already holds is not folded again. */
export async function foldRun(
  runs: RunLog,
  record: RunRecord,
  session: Session | undefined,
): Promise<FoldedRun> {
  const active = activeIn(session, record);
  const view = createRunView({
    messages: session?.messages ?? [],
    state: session?.state,
    open: active?.open ?? [],
    isReordered: isHeldBy(session, record) || (active?.offset ?? 0) > 0,
  });
  let offset = foldStart(record, session);
  let terminal: LogEntry | undefined;
  for (;;) {
    const entries = await runs.read(record, offset, page);
    for (const entry of entries) {
      if (isTerminal(entry.event)) terminal = entry;
      else view.apply(entry.event, entry.at);
      offset = entry.to;
    }
    if (entries.length < page) break;
  }
  return { view, offset, ...(terminal ? { terminal } : {}) };
}

/** What a session holds of a run that goes on. */
function activeIn(session: Session | undefined, { runId }: RunRecord): Session["active"] {
  return session?.active?.runId === runId ? session.active : undefined;
}

/** Whether a session was written after a run's last checkpoint, so that it may hold all of the run. */
function isHeldBy(session: Session | undefined, record: RunRecord): boolean {
  return session !== undefined && activeIn(session, record) === undefined;
}
