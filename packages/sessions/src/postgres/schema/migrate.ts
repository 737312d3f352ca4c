import { AgentError } from "@holodeck/agui-core";
import { toDatabase } from "../client/database.ts";
import type { Database, PostgresClient } from "../client/database.ts";
import { postgresMigrations, toSchema } from "./steps.ts";

export interface MigrateOptions {
  /** A `Pool` of `pg`, or an instance of `postgres`. */
  readonly client: PostgresClient;
  /** The schema with our tables; made when it is absent. By default `agui`. */
  readonly schema?: string;
}

/**
 * Brings the tables and functions of `postgresSessions` to the version of this release. May be called by several
 * processes at once, and again. Resolves to the number of steps that were made.
 *
 * @example
 * ```ts
 * await migrate({ client });
 * ```
 */
export async function migrate(options: MigrateOptions): Promise<number> {
  const schema = toSchema(options.schema);
  const database = toDatabase(options.client);
  const steps = postgresMigrations({ schema });
  let made = 0;
  for (;;) {
    const version = await versionOf(database, schema);
    if (version > steps.length) {
      throw new AgentError(
        "store-unavailable",
        `The schema "${schema}" has version ${version}; this release supports up to ${steps.length}.`,
      );
    }
    const next = steps[version];
    if (!next) return made;
    try {
      await database.exec(next.sql);
      made++;
    } catch (error) {
      // Another process was faster.
      if ((error as { code?: unknown }).code !== "AGV01") throw error;
    }
  }
}

async function versionOf(database: Database, schema: string): Promise<number> {
  const exists = await database.query("SELECT to_regclass($1)::text AS r", [
    `${schema}.migrations`,
  ]);
  if (!exists[0]) return 0;
  const rows = await database.query(
    `SELECT coalesce(max(version), 0)::text AS r FROM "${schema}".migrations`,
    [],
  );
  return Number(rows[0]);
}
