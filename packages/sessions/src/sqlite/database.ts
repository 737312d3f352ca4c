import { AgentError } from "@holodeck/agui-core";
import { storeRefuses } from "../kit/storage/store-errors.ts";
import type { SqliteConnection, Statement } from "./load-sqlite.ts";

/** An open database: prepared statements, and transactions that either happen or do not. */
export interface Database {
  /** Prepared once per text. */
  sql(text: string): Statement;
  exec(text: string): void;
  /** Several statements that see one state of the database. */
  read<T>(work: () => T): T;
  /** All or nothing. Takes the write lock first, so that what is read in it is still true at its end. */
  write<T>(work: () => T): T;
  close(): void;
}

export function createDatabase(connection: SqliteConnection): Database {
  const statements = new Map<string, Statement>();
  let isInside = false;

  function transaction<T>(begin: string, work: () => T): T {
    if (isInside) return work();
    return guarded(() => {
      connection.exec(begin);
      isInside = true;
      try {
        const result = work();
        connection.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack(connection);
        throw error;
      } finally {
        isInside = false;
      }
    });
  }

  return {
    sql(text) {
      let statement = statements.get(text);
      if (!statement) statements.set(text, (statement = connection.prepare(text)));
      return statement;
    },
    exec: (text) => connection.exec(text),
    read: (work) => transaction("BEGIN", work),
    write: (work) => transaction("BEGIN IMMEDIATE", work),
    close() {
      statements.clear();
      connection.close();
    },
  };
}

/** SQLite's primary result code, when the error is SQLite's. */
export function resultCode(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode & 0xff : undefined;
}

const readOnly = 8;
const full = 13;

// SQLite's messages may name files: they stay in the cause, which no client receives.
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = resultCode(cause);
    if (code === undefined) throw cause;
    if (code === readOnly || code === full) throw storeRefuses(cause);
    throw new AgentError("store-unavailable", "The session database did not respond.", { cause });
  }
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself (disk full, I/O error), or BEGIN had failed; the error that led here is thrown.
  }
}
