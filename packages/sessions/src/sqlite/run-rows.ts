import type { LogEntry, RunKey, RunRecord, RunStatus, ThreadKey } from "@holodeck/agui-core";
import { fromEntryRow } from "../kit/runs/entry-rows.ts";
import type { EntryBatch, EntryRow } from "../kit/runs/entry-rows.ts";
import { toRunRecord } from "../kit/runs/run-record.ts";
import type { Database } from "./database.ts";
import { fromText, toKeyText } from "../kit/storage/key-text.ts";

/** A run as it is stored. */
export interface RunRow {
  readonly fence: number;
  readonly principal: string;
  readonly run_id: string;
  readonly thread_id: string;
  readonly agent_id: string;
  readonly protocol_version: string | null;
  readonly status: RunStatus;
  readonly first: number;
  readonly last: number;
  readonly owner: string;
  readonly expires_at: number;
  readonly lease_ms: number;
  readonly ended_at: number | null;
}

export interface RunRows {
  byThread(key: ThreadKey): RunRow | undefined;
  byRun(principal: string, runId: string): RunRow | undefined;
  byFence(fence: number): RunRow | undefined;
  insert(
    key: RunKey,
    init: {
      agentId: string;
      protocolVersion?: string | undefined;
      owner: string;
      expiresAt: number;
      leaseMs: number;
    },
  ): number;
  /**
   * Renews the lease as well. False when the run is not running with this fence, or is at another offset.
   */
  append(run: RunKey & { fence: number }, batch: EntryBatch, expiresAt: number): boolean;
  end(fence: number, status: RunStatus, at: number): void;
  entries(fence: number, after: number, limit: number): LogEntry[];
  remove(fence: number): void;
  /** The fences of what was removed. */
  removeThread(key: ThreadKey): number[];
  /** Removes some of the runs that ended before a time; returns how many. */
  removeEnded(before: number, limit: number): number;
}

// What a row costs in the file besides its text.
const rowOverhead = 32;

const columns =
  "fence, principal, run_id, thread_id, agent_id, protocol_version, status, first, last, owner, expires_at, lease_ms, ended_at";

/** Runs and their entries in the database. Every method expects to be called in a transaction. */
export function createRunRows(
  db: Database,
  bounds: { runLogEvents: number; runLogBytes: number },
): RunRows {
  const { runLogEvents, runLogBytes } = bounds;

  function trim(fence: number, size: { bytes: number; rows: number }): void {
    let { bytes, rows } = size;
    let gone = 0;
    while (rows > 1 && (rows > runLogEvents || bytes > runLogBytes)) {
      const oldest = db
        .sql("SELECT last, bytes FROM entries WHERE fence = ? AND last > ? ORDER BY last LIMIT 100")
        .all(fence, gone) as { last: number; bytes: number }[];
      for (const entry of oldest) {
        if (rows === 1 || (rows <= runLogEvents && bytes <= runLogBytes)) break;
        rows--;
        bytes -= entry.bytes;
        gone = entry.last;
      }
    }
    db.sql("DELETE FROM entries WHERE fence = ? AND last <= ?").run(fence, gone);
    db.sql("UPDATE runs SET first = ?, bytes = ?, rows = ? WHERE fence = ?").run(
      gone + 1,
      bytes,
      rows,
      fence,
    );
  }

  return {
    byThread: ({ principal, threadId }) =>
      db
        .sql(
          `SELECT ${columns} FROM runs WHERE principal = ? AND thread_id = ? AND status = 'running'`,
        )
        .get(toKeyText(principal), toKeyText(threadId)) as RunRow | undefined,
    byRun: (principal, runId) =>
      db
        .sql(`SELECT ${columns} FROM runs WHERE principal = ? AND run_id = ?`)
        .get(toKeyText(principal), toKeyText(runId)) as RunRow | undefined,
    byFence: (fence) =>
      db.sql(`SELECT ${columns} FROM runs WHERE fence = ?`).get(fence) as RunRow | undefined,
    insert(key, { agentId, protocolVersion, owner, expiresAt, leaseMs }) {
      const { lastInsertRowid } = db
        .sql(
          `INSERT INTO runs (principal, run_id, thread_id, format, agent_id, protocol_version,
             status, first, last, bytes, rows, owner, expires_at, lease_ms)
           VALUES (?, ?, ?, 1, ?, ?, 'running', 1, 0, 0, 0, ?, ?, ?)`,
        )
        .run(
          toKeyText(key.principal),
          toKeyText(key.runId),
          toKeyText(key.threadId),
          agentId,
          protocolVersion ?? null,
          owner,
          expiresAt,
          leaseMs,
        );
      return Number(lastInsertRowid);
    },
    append({ fence, principal, runId }, batch, expiresAt) {
      const sizes = batch.rows.map(bytesOf);
      const size = db
        .sql(
          `UPDATE runs SET last = ?, bytes = bytes + ?, rows = rows + ?,
             expires_at = max(expires_at, ?)
           WHERE fence = ? AND principal = ? AND run_id = ? AND status = 'running' AND last = ?
           RETURNING bytes, rows`,
        )
        .get(
          batch.last,
          sizes.reduce((sum, bytes) => sum + bytes, 0),
          batch.rows.length,
          expiresAt,
          fence,
          toKeyText(principal),
          toKeyText(runId),
          batch.first - 1,
        ) as { bytes: number; rows: number } | undefined;
      if (!size) return false;
      const insert = db.sql(
        "INSERT INTO entries (fence, last, first, at, bytes, cuts, event) VALUES (?, ?, ?, ?, ?, ?, ?)",
      );
      for (const [index, { last, first, at, cuts, event }] of batch.rows.entries()) {
        insert.run(fence, last, first, at, sizes[index]!, cuts, event);
      }
      if (size.rows > runLogEvents || size.bytes > runLogBytes) trim(fence, size);
      return true;
    },
    end(fence, status, at) {
      db.sql("UPDATE runs SET status = ?, ended_at = ? WHERE fence = ?").run(status, at, fence);
      db.sql("DELETE FROM commands WHERE fence = ?").run(fence);
    },
    entries(fence, after, limit) {
      const rows = db
        .sql(
          `SELECT first, last, at, cuts, event FROM entries
           WHERE fence = ? AND last > ? ORDER BY last LIMIT ?`,
        )
        .all(fence, after, Number.isFinite(limit) ? limit : -1) as EntryRow[];
      return rows.map(fromEntryRow);
    },
    remove: (fence) => void db.sql("DELETE FROM runs WHERE fence = ?").run(fence),
    removeThread({ principal, threadId }) {
      const removed = db
        .sql("DELETE FROM runs WHERE principal = ? AND thread_id = ? RETURNING fence")
        .all(toKeyText(principal), toKeyText(threadId)) as { fence: number }[];
      return removed.map(({ fence }) => fence);
    },
    removeEnded(before, limit) {
      const { changes } = db
        .sql("DELETE FROM runs WHERE fence IN (SELECT fence FROM runs WHERE ended_at <= ? LIMIT ?)")
        .run(before, limit);
      return Number(changes);
    },
  };
}

function bytesOf({ event, cuts }: EntryRow): number {
  return Buffer.byteLength(event) + (cuts?.length ?? 0) + rowOverhead;
}

export function keyOf(row: RunRow): RunKey {
  return {
    principal: fromText(row.principal),
    threadId: fromText(row.thread_id),
    runId: fromText(row.run_id),
  };
}

export function recordOf(row: RunRow): RunRecord {
  const { agent_id: agentId, protocol_version: protocolVersion, status, first, last } = row;
  return toRunRecord(keyOf(row), { agentId, protocolVersion, status, first, last });
}
