import { accessSync, closeSync, constants, openSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError, isAgentError } from "@holodeck/agui-core";
import { createDatabase, resultCode } from "./database.ts";
import type { Database } from "./database.ts";
import { loadSqlite } from "./load-sqlite.ts";
import type { SqliteConnection } from "./load-sqlite.ts";
import { checkVersion, migrate } from "./schema.ts";

const busyCode = 5;
const attempts = 20;

/**
 * Opens or creates the database at a path. Every failure is a `store-unavailable` with its reason.
 */
export async function openDatabase(path: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite();
  for (let attempt = 1; ; attempt++) {
    let connection: SqliteConnection | undefined;
    try {
      makePrivate(path);
      connection = new DatabaseSync(path);
      return prepare(connection);
    } catch (error) {
      connection?.close();
      const { cause = error } = error as { cause?: unknown };
      // Two processes that switch a new file to WAL at once: SQLite makes one of them fail
      // immediately.
      if (resultCode(cause) === busyCode && attempt < attempts) {
        await new Promise((resolve) => setTimeout(resolve, 25 * attempt));
        continue;
      }
      throw await explain(path, error);
    }
  }
}

function prepare(connection: SqliteConnection): Database {
  const db = createDatabase(connection);
  connection.exec("PRAGMA busy_timeout = 5000");
  // Before anything is written: the file may belong to another program.
  checkVersion(db);
  const { journal_mode } = db.sql("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
  if (journal_mode !== "wal") {
    throw new AgentError("store-unavailable", "The database's file system does not support WAL.");
  }
  // Safe against a killed process; a power cut may take the last moments, and never corrupts.
  connection.exec("PRAGMA synchronous = NORMAL");
  connection.exec("PRAGMA foreign_keys = ON");
  connection.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  migrate(db);
  return db;
}

/**
 * Conversations are private to this user; SQLite gives its side files the same permissions. Only a new
 * file is changed, and in one step: closing a handle of a file that SQLite has open in this process
 * would drop SQLite's locks on it.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
    // SQLite would open it for reading and fail at the first write.
    accessSync(path, constants.W_OK);
  }
}

async function explain(path: string, error: unknown): Promise<AgentError> {
  if (isAgentError(error) && resultCode(error.cause) === undefined) return error;
  const reason = await reasonOf(path, isAgentError(error) ? error.cause : error);
  // The path is for the host's log, not for a client.
  const cause = new Error(`${path} ${reason}.`, { cause: error });
  return new AgentError("store-unavailable", `The session database ${reason}.`, { cause });
}

async function reasonOf(path: string, error: unknown): Promise<string> {
  if (await stat(path).then((found) => found.isDirectory(), never)) return "is a directory";
  if (!(await stat(dirname(path)).catch(() => undefined)))
    return "is in a folder that does not exist";
  if (await isForbidden(path)) return "cannot be written";
  if (await isForbidden(dirname(path))) return "is in a folder that cannot be written";
  const code = resultCode(error);
  return (code !== undefined && reasons[code]) || "cannot be opened";
}

async function isForbidden(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(never, () => true);
}

const never = (): boolean => false;

const reasons: Readonly<Record<number, string>> = {
  5: "is locked by another program",
  8: "cannot be written",
  11: "is damaged",
  13: "is on a full disk",
  26: "is not a SQLite database, or is damaged",
};
