import { AgentError } from "@holodeck/agui-core";
import type { Database } from "./database.ts";

/** Written into the file's header, so that another program's database is not taken for ours. */
export const applicationId = 0x41475549;

/**
 * Step n leads from version n to version n + 1. A released step is never changed: a correction is
 * another step.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    principal TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    state TEXT,
    metadata TEXT NOT NULL,
    pending TEXT NOT NULL,
    last_run_id TEXT,
    active TEXT,
    UNIQUE (principal, thread_id)
  );
  CREATE INDEX sessions_recent ON sessions (principal, last_activity DESC, thread_id);
  CREATE INDEX sessions_activity ON sessions (last_activity);

  CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, position)
  ) WITHOUT ROWID;

  -- The fence is the key of a run: AUTOINCREMENT never gives one twice.
  CREATE TABLE runs (
    fence INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT NOT NULL,
    run_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    format INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    protocol_version TEXT,
    status TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    UNIQUE (principal, run_id)
  );
  CREATE INDEX runs_thread ON runs (principal, thread_id);
  CREATE UNIQUE INDEX runs_active ON runs (principal, thread_id) WHERE status = 'running';
  CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE entries (
    fence INTEGER NOT NULL REFERENCES runs (fence) ON DELETE CASCADE,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    cuts TEXT,
    event TEXT NOT NULL,
    PRIMARY KEY (fence, last)
  ) WITHOUT ROWID;

  CREATE TABLE commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fence INTEGER NOT NULL REFERENCES runs (fence) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    value TEXT NOT NULL
  );
  CREATE INDEX commands_owner ON commands (owner);
  CREATE INDEX commands_fence ON commands (fence);

  CREATE TABLE watchers (
    fence INTEGER NOT NULL REFERENCES runs (fence) ON DELETE CASCADE,
    process TEXT NOT NULL,
    count INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (fence, process)
  ) WITHOUT ROWID;

  CREATE TABLE buckets (
    name TEXT PRIMARY KEY,
    tokens REAL NOT NULL,
    at INTEGER NOT NULL,
    full_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  "ALTER TABLE sessions ADD COLUMN times TEXT",
  `
  -- Without a size it is still being written.
  CREATE TABLE blobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER,
    metadata TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (principal, name)
  );
  CREATE INDEX blobs_expiry ON blobs (expires_at);

  CREATE TABLE blob_pieces (
    blob INTEGER NOT NULL REFERENCES blobs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (blob, position)
  );
  `,
  `
  ALTER TABLE sessions ADD COLUMN history_owner TEXT;
  ALTER TABLE sessions ADD COLUMN pruned TEXT;
  ALTER TABLE sessions ADD COLUMN past_runs TEXT;
  ALTER TABLE sessions ADD COLUMN claimed TEXT;
  `,
  `
  -- Apart from the rows of the sessions, so that a list or a touch does not go through it.
  CREATE TABLE states (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    value TEXT NOT NULL
  );
  INSERT INTO states SELECT id, state FROM sessions WHERE state IS NOT NULL;
  ALTER TABLE sessions DROP COLUMN state;
  ALTER TABLE sessions ADD COLUMN size TEXT;
  `,
  `
  -- A lease without its length does not hold.
  ALTER TABLE runs ADD COLUMN lease_ms INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE lease_time (id INTEGER PRIMARY KEY, origin INTEGER NOT NULL);
  `,
];

/** Brings a database to the newest version. */
export function migrate(db: Database, steps: readonly string[] = migrations): void {
  if (checkVersion(db, steps) === steps.length) return;
  db.write(() => {
    // Read again under the lock: another process may have been here first.
    const version = checkVersion(db, steps);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

/** The version of a database. Refuses one that is newer than we are, or not ours; writes nothing. */
export function checkVersion(db: Database, steps: readonly string[] = migrations): number {
  return db.read(() => {
    const version = versionOf(db);
    if (!isOurs(db) && (version !== 0 || !isEmpty(db))) {
      throw new AgentError("store-unavailable", "The database belongs to another program.");
    }
    if (version > steps.length) {
      throw new AgentError(
        "store-unavailable",
        `The session database has version ${version}; this release supports up to ${steps.length}.`,
      );
    }
    return version;
  });
}

function versionOf(db: Database): number {
  return (db.sql("PRAGMA user_version").get() as { user_version: number }).user_version;
}

function isOurs(db: Database): boolean {
  const { application_id } = db.sql("PRAGMA application_id").get() as { application_id: number };
  return application_id === applicationId;
}

function isEmpty(db: Database): boolean {
  const { tables } = db.sql("SELECT count(*) AS tables FROM sqlite_schema").get() as {
    tables: number;
  };
  return tables === 0;
}
