import type {
  ActiveFold,
  HistoryOwner,
  ListedSession,
  Message,
  Pending,
  Session,
} from "@holodeck/agui-core";
import type { MessageRow } from "../kit/sessions/compare-messages.ts";
import { joinSession } from "../kit/sessions/session-parts.ts";
import { fromText } from "../kit/storage/key-text.ts";

/** What a list needs of a session. */
export interface ListedRow {
  readonly id: number;
  readonly principal: string;
  readonly thread_id: string;
  readonly agent_id: string;
  readonly version: number;
  readonly created_at: number;
  readonly last_activity: number;
  readonly message_count: number;
  readonly metadata: string;
  readonly last_run_id: string | null;
  readonly size: string | null;
  readonly active: string | null;
}

/** The columns of a `ListedRow`. */
export const listedColumns = `id, principal, thread_id, agent_id, version, created_at, last_activity,
  message_count, metadata, last_run_id, size, active`;

/** A session without its messages, as the database has it. */
export interface SessionRow extends ListedRow {
  readonly state: string | null;
  readonly pending: string;
  readonly times: string | null;
  readonly history_owner: HistoryOwner | null;
  readonly pruned: string | null;
  readonly past_runs: string | null;
  readonly claimed: string | null;
}

export function toListedSession(row: ListedRow): ListedSession {
  return {
    principal: fromText(row.principal),
    threadId: fromText(row.thread_id),
    agentId: row.agent_id,
    version: row.version,
    createdAt: row.created_at,
    lastActivity: row.last_activity,
    messageCount: row.message_count,
    metadata: JSON.parse(row.metadata) as Session["metadata"],
    lastRunId: row.last_run_id === null ? undefined : fromText(row.last_run_id),
    size: parsed<Session["size"]>(row.size),
    activeRunId: parsed<ActiveFold>(row.active)?.runId,
  };
}

export function toSession(row: SessionRow, messages: readonly MessageRow[]): Session {
  const values = messages.map(({ value }) => JSON.parse(value) as Message);
  return joinSession(toListedSession(row), values, {
    state: parsed<unknown>(row.state),
    rest: {
      pending: JSON.parse(row.pending) as Pending[],
      active: parsed<ActiveFold>(row.active),
      times: parsed<Session["times"]>(row.times),
      historyOwner: row.history_owner ?? undefined,
      pruned: parsed<Session["pruned"]>(row.pruned),
      pastRuns: parsed<Session["pastRuns"]>(row.past_runs),
      claimed: parsed<Session["claimed"]>(row.claimed),
    },
  });
}

function parsed<T>(json: string | null): T | undefined {
  return json === null ? undefined : (JSON.parse(json) as T);
}
