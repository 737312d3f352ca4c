import type {
  ListedSession,
  Session,
  SessionChange,
  SessionInit,
  ThreadKey,
} from "@holodeck/agui-core";
import type { PruneOptions } from "../kit/sessions/prune-messages.ts";
import { sessionNotFound } from "../kit/storage/store-errors.ts";
import { changeSession, newSession } from "../kit/sessions/session-record.ts";
import type { Database } from "./database.ts";
import { fromText, toKeyText } from "../kit/storage/key-text.ts";
import { holds } from "./lease-time.ts";
import { compareMessages } from "../kit/sessions/compare-messages.ts";
import type { MessageRow } from "../kit/sessions/compare-messages.ts";
import { fromCursor, toPage } from "../kit/sessions/session-list.ts";
import { listedColumns, toListedSession, toSession } from "./session-row.ts";
import type { ListedRow, SessionRow } from "./session-row.ts";

/** When a session counts as expired: used last at or before `deadline`, without a run whose lease holds. */
export interface Expiry {
  readonly now: number;
  /** The time of leases. */
  readonly leaseNow: number;
  readonly deadline: number;
}

export interface SessionRows {
  get(key: ThreadKey, expiry: Expiry): Session | undefined;
  has(key: ThreadKey, expiry: Expiry): boolean;
  insert(key: ThreadKey, init: SessionInit, now: number): Session;
  update(
    key: ThreadKey,
    change: SessionChange,
    options: PruneOptions & Expiry & { ifVersion?: number | undefined },
  ): Session;
  touch(key: ThreadKey, expiry: Expiry): void;
  /** False when there was none. */
  remove(key: ThreadKey): boolean;
  /** Rows, those included that have expired and were not swept yet. */
  count(): number;
  countLive(expiry: Expiry): number;
  expired(expiry: Expiry, limit: number): ThreadKey[];
  list(query: ListQuery, expiry: Expiry): { items: ListedSession[]; next?: string | undefined };
}

interface ListQuery {
  readonly principal: string;
  readonly agentId?: string;
  readonly limit: number;
  readonly cursor?: string;
}

const hasLiveRun = `EXISTS (
  SELECT 1 FROM runs WHERE runs.principal = sessions.principal
    AND runs.thread_id = sessions.thread_id AND status = 'running'
    AND ${holds})`;
const isLive = `(last_activity > ? OR ${hasLiveRun})`;

/** Sessions in the database. Every method expects to be called in a transaction. */
export function createSessionRows(db: Database): SessionRows {
  function find(key: ThreadKey, { deadline, leaseNow }: Expiry): SessionRow | undefined {
    return db
      .sql(
        `SELECT sessions.*, states.value AS state FROM sessions LEFT JOIN states ON session = id
         WHERE principal = ? AND thread_id = ? AND ${isLive}`,
      )
      .get(toKeyText(key.principal), toKeyText(key.threadId), deadline, leaseNow) as
      | SessionRow
      | undefined;
  }

  function findId(key: ThreadKey, { deadline, leaseNow }: Expiry): number | undefined {
    const row = db
      .sql(`SELECT id FROM sessions WHERE principal = ? AND thread_id = ? AND ${isLive}`)
      .get(toKeyText(key.principal), toKeyText(key.threadId), deadline, leaseNow);
    return (row as { id: number } | undefined)?.id;
  }

  function messagesOf(id: number): MessageRow[] {
    return db
      .sql("SELECT position, value FROM messages WHERE session = ? ORDER BY position")
      .all(id) as MessageRow[];
  }

  function writeState(id: number, state: unknown): void {
    const value = JSON.stringify(state);
    if (value === undefined) db.sql("DELETE FROM states WHERE session = ?").run(id);
    else {
      db.sql(
        `INSERT INTO states (session, value) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET value = excluded.value`,
      ).run(id, value);
    }
  }

  function writeMessages(
    id: number,
    before: readonly MessageRow[],
    after: readonly string[],
  ): void {
    const { changed, added, removed } = compareMessages(before, after);
    const remove = db.sql("DELETE FROM messages WHERE session = ? AND position = ?");
    for (const position of removed) remove.run(id, position);
    const change = db.sql("UPDATE messages SET value = ? WHERE session = ? AND position = ?");
    for (const { position, value } of changed) change.run(value, id, position);
    const add = db.sql("INSERT INTO messages (session, position, value) VALUES (?, ?, ?)");
    let position = before.at(-1)?.position ?? 0;
    for (const value of added) add.run(id, ++position, value);
  }

  return {
    get(key, expiry) {
      const row = find(key, expiry);
      return row && toSession(row, messagesOf(row.id));
    },
    has: (key, expiry) => findId(key, expiry) !== undefined,
    insert(key, init, now) {
      const session = newSession(key, init, now);
      db.sql(
        `INSERT INTO sessions (principal, thread_id, agent_id, version, created_at, last_activity,
           message_count, metadata, pending, size) VALUES (?, ?, ?, ?, ?, ?, 0, ?, '[]', ?)`,
      ).run(
        toKeyText(key.principal),
        toKeyText(key.threadId),
        init.agentId,
        session.version,
        now,
        now,
        JSON.stringify(session.metadata),
        JSON.stringify(session.size),
      );
      return session;
    },
    update(key, change, options) {
      const row = find(key, options);
      if (!row) throw sessionNotFound(key);
      const before = messagesOf(row.id);
      const session = changeSession(toSession(row, before), change, options);
      const after = session.messages.map((message) => JSON.stringify(message));
      writeMessages(row.id, before, after);
      if ("state" in change) writeState(row.id, session.state);
      db.sql(
        `UPDATE sessions SET version = ?, last_activity = ?, message_count = ?, metadata = ?,
           pending = ?, last_run_id = ?, active = ?, times = ?, history_owner = ?, pruned = ?,
           past_runs = ?, claimed = ?, size = ? WHERE id = ?`,
      ).run(
        session.version,
        session.lastActivity,
        session.messageCount,
        JSON.stringify(session.metadata),
        JSON.stringify(session.pending),
        session.lastRunId === undefined ? null : toKeyText(session.lastRunId),
        JSON.stringify(session.active) ?? null,
        JSON.stringify(session.times) ?? null,
        session.historyOwner ?? null,
        JSON.stringify(session.pruned) ?? null,
        change.run ? JSON.stringify(session.pastRuns) : row.past_runs,
        JSON.stringify(session.claimed) ?? null,
        JSON.stringify(session.size),
        row.id,
      );
      return session;
    },
    touch(key, expiry) {
      const id = findId(key, expiry);
      if (id === undefined) return;
      const sql = "UPDATE sessions SET last_activity = max(last_activity, ?) WHERE id = ?";
      db.sql(sql).run(expiry.now, id);
    },
    remove({ principal, threadId }) {
      const { changes } = db
        .sql("DELETE FROM sessions WHERE principal = ? AND thread_id = ?")
        .run(toKeyText(principal), toKeyText(threadId));
      return Number(changes) > 0;
    },
    count: () => (db.sql("SELECT count(*) AS n FROM sessions").get() as { n: number }).n,
    countLive({ deadline, leaseNow }) {
      const sql = `SELECT count(*) AS n FROM sessions WHERE ${isLive}`;
      return (db.sql(sql).get(deadline, leaseNow) as { n: number }).n;
    },
    expired({ deadline, leaseNow }, limit) {
      const rows = db
        .sql(
          `SELECT principal, thread_id FROM sessions
           WHERE last_activity <= ? AND NOT ${hasLiveRun} LIMIT ?`,
        )
        .all(deadline, leaseNow, limit) as { principal: string; thread_id: string }[];
      return rows.map(({ principal, thread_id }) => ({
        principal: fromText(principal),
        threadId: fromText(thread_id),
      }));
    },
    list({ principal, agentId, limit, cursor }, { deadline, leaseNow }) {
      const start = cursor === undefined ? undefined : fromCursor(cursor);
      const rows = db
        .sql(
          `SELECT ${listedColumns} FROM sessions WHERE principal = ? AND ${isLive}
             ${agentId ? "AND agent_id = ?" : ""}
             ${start ? "AND (last_activity < ? OR (last_activity = ? AND thread_id > ?))" : ""}
           ORDER BY last_activity DESC, thread_id LIMIT ?`,
        )
        .all(
          toKeyText(principal),
          deadline,
          leaseNow,
          ...(agentId ? [agentId] : []),
          ...(start ? [start.lastActivity, start.lastActivity, toKeyText(start.name)] : []),
          limit + 1,
        ) as ListedRow[];
      return toPage(rows, limit, {
        item: toListedSession,
        place: ({ last_activity, thread_id }) => ({
          lastActivity: last_activity,
          name: fromText(thread_id),
        }),
      });
    },
  };
}
