import { AgentError } from "@holodeck/agui-core";

/** The part of a prepared statement that is used here. */
export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/** The part of `DatabaseSync` that is used here. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

type SqlValue = string | number | Uint8Array | null;

export interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteConnection;
}

/** Where a SQLite may be found. */
export interface SqliteSources {
  /** Node's own; undefined before Node 22.13. */
  builtin(): SqliteModule | undefined;
  /** The optional peer dependency; rejects when it is not installed. */
  peer(): Promise<SqliteModule>;
}

const sources: SqliteSources = {
  builtin: () => process.getBuiltinModule?.("node:sqlite") as SqliteModule | undefined,
  peer: async () => import("@photostructure/sqlite"),
};

/** Node's SQLite where there is one, else the package with the same interface. */
export async function loadSqlite({
  builtin,
  peer,
}: SqliteSources = sources): Promise<SqliteModule> {
  const own = builtin();
  if (own) return own;
  try {
    return await peer();
  } catch (cause) {
    throw new AgentError(
      "store-unavailable",
      "sqliteSessions needs Node 22.13 or newer, or the package @photostructure/sqlite next to it.",
      { cause },
    );
  }
}
