import { AgentError } from "@holodeck/agui-core";
import { dateOf } from "@holodeck/agui-core/internal";
import type { BlobKey, BlobStore, Clock, Json } from "@holodeck/agui-core";
import { blobGone, blobTaken, writePieces } from "../kit/storage/blob-pieces.ts";
import type { Database } from "./database.ts";
import { toKeyText } from "../kit/storage/key-text.ts";

export interface SqliteBlobs extends BlobStore {
  /** Removes some of what has expired; true when there may be more. */
  sweep(): boolean;
  close(): void;
}

interface BlobRow {
  readonly id: number;
  readonly size: number | null;
  readonly metadata: string;
  readonly expires_at: number;
}

// Small enough that writing one does not block other writers.
const pieceBytes = 256 * 1024;
const sweepLimit = 4;

/** Bytes in separate rows, one per piece. */
export function createSqliteBlobs(db: Database, clock: Clock): SqliteBlobs {
  let isClosed = false;

  function find({ principal, id }: BlobKey): BlobRow | undefined {
    if (isClosed) throw new AgentError("store-unavailable", "The session database is closed.");
    const sql = "SELECT id, size, metadata, expires_at FROM blobs WHERE principal = ? AND name = ?";
    return db.sql(sql).get(toKeyText(principal), toKeyText(id)) as BlobRow | undefined;
  }

  function live(key: BlobKey): (BlobRow & { size: number }) | undefined {
    const row = find(key);
    const isThere = row && row.size !== null && row.expires_at > dateOf(clock);
    return isThere ? (row as BlobRow & { size: number }) : undefined;
  }

  function remove(id: number): void {
    db.sql("DELETE FROM blobs WHERE id = ?").run(id);
  }

  function reserve(key: BlobKey, ttlMs: number, metadata: Json): number {
    return db.write(() => {
      const found = find(key);
      if (found && found.expires_at > dateOf(clock)) throw blobTaken(key);
      if (found) remove(found.id);
      const { principal, id } = key;
      const { lastInsertRowid } = db
        .sql("INSERT INTO blobs (principal, name, metadata, expires_at) VALUES (?, ?, ?, ?)")
        .run(toKeyText(principal), toKeyText(id), JSON.stringify(metadata), dateOf(clock) + ttlMs);
      return Number(lastInsertRowid);
    });
  }

  /** Returns false when it was removed in the meantime. */
  function write(blob: number, position: number, bytes: Uint8Array): boolean {
    const sql =
      "INSERT INTO blob_pieces (blob, position, bytes) SELECT id, ?, ? FROM blobs WHERE id = ?";
    return db.write(() => Number(db.sql(sql).run(position, bytes, blob).changes) === 1);
  }

  async function* read(key: BlobKey, blob: number): AsyncGenerator<Uint8Array, void, undefined> {
    const sql = "SELECT bytes FROM blob_pieces WHERE blob = ? AND position = ?";
    for (let position = 0; ; position++) {
      const row = db.read(() => {
        if (live(key)?.id !== blob) throw blobGone(key);
        return db.sql(sql).get(blob, position) as { bytes: Uint8Array } | undefined;
      });
      if (!row) return;
      yield row.bytes;
    }
  }

  return {
    async put(key, bytes, { ttlMs, metadata }) {
      const blob = reserve(key, ttlMs, metadata);
      await writePieces(bytes, pieceBytes, {
        write(piece, place) {
          if (isClosed || !write(blob, place, piece)) throw blobGone(key);
        },
        finish(size) {
          const finish = "UPDATE blobs SET size = ?, expires_at = ? WHERE id = ?";
          const { changes } = db.write(() => db.sql(finish).run(size, dateOf(clock) + ttlMs, blob));
          if (Number(changes) === 0) throw blobGone(key);
        },
        drop() {
          // One that was closed meanwhile leaves it to the next sweep.
          if (!isClosed) db.write(() => remove(blob));
        },
      });
    },
    async get(key) {
      const row = db.read(() => live(key));
      if (!row) return undefined;
      const { id, size, metadata } = row;
      return { size, metadata: JSON.parse(metadata) as Json, read: () => read(key, id) };
    },
    async delete(key) {
      return db.write(() => {
        const row = live(key);
        if (row) remove(row.id);
        return row !== undefined;
      });
    },
    async size() {
      const sql = "SELECT sum(size) AS bytes FROM blobs WHERE expires_at > ?";
      return (db.sql(sql).get(dateOf(clock)) as { bytes: number | null }).bytes ?? 0;
    },
    sweep() {
      const sql = "SELECT id FROM blobs WHERE expires_at <= ? LIMIT ?";
      const due = db.sql(sql).all(dateOf(clock), sweepLimit) as { id: number }[];
      if (due.length > 0) db.write(() => due.forEach(({ id }) => remove(id)));
      return due.length === sweepLimit;
    },
    close() {
      isClosed = true;
    },
  };
}
