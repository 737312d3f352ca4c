import { blobFunctions } from "./blob-functions.ts";
import { ownerFunctions } from "./owner-functions.ts";
import { readerFunctions } from "./reader-functions.ts";
import { searchPaths } from "./search-path.ts";
import { sessionFunctions } from "./session-functions.ts";
import { tables } from "./tables.ts";

/** One step of the schema, as SQL that runs in one transaction. */
export interface PostgresMigration {
  readonly version: number;
  readonly sql: string;
}

/** Step n leads from version n - 1 to version n. A released step is never changed: a correction is another step. */
const steps: readonly string[] = [
  [tables, ownerFunctions, readerFunctions, sessionFunctions, blobFunctions, searchPaths].join(""),
];

const defaultSchema = "agui";

/**
 * The tables and functions as SQL, for a tool that has its own migrations. Each step records its version in
 * `migrations` and fails, with everything in it, when that is not the next one.
 */
export function postgresMigrations(
  options: { readonly schema?: string | undefined } = {},
): readonly PostgresMigration[] {
  const schema = toSchema(options.schema);
  return steps.map((step, index) => {
    const version = index + 1;
    const sql = `${begin(version)}${step}${end(version)}`;
    return { version, sql: withSchema(sql, schema) };
  });
}

/** Refuses what is no plain name: it is part of every statement. */
export function toSchema(name: string = defaultSchema): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name) && !name.startsWith("pg_")) return name;
  throw new TypeError(
    `The schema "${name}" is not valid: lower-case letters, digits and underscores, at most 63, and not "pg_" at the beginning.`,
  );
}

/** In the sources the schema is called `agui`; so is the channel of notifications. */
function withSchema(sql: string, schema: string): string {
  if (schema === defaultSchema) return sql;
  return sql.replaceAll("'agui'", `'${schema}'`).replaceAll(/\bagui\b(?=[.;])/g, `"${schema}"`);
}

// Two processes that migrate at once: the second waits, and then finds that the step was made.
function begin(version: number): string {
  const first = `
CREATE SCHEMA IF NOT EXISTS agui;
CREATE TABLE IF NOT EXISTS agui.migrations (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
`;
  return `-- Version ${version} of the tables and functions of @holodeck/agui-sessions/postgres.
SELECT set_config('holodeck.search_path', current_setting('search_path'), true),
  set_config('search_path', 'pg_catalog, pg_temp', true);
SELECT pg_advisory_xact_lock(hashtext('agui'), 0);
${version === 1 ? first : ""}
DO $$ BEGIN
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'The database must have the encoding UTF8.';
  END IF;
  IF (SELECT coalesce(max(version), 0) FROM agui.migrations) <> ${version - 1} THEN
    RAISE EXCEPTION 'Version ${version} does not follow the version of this schema.' USING ERRCODE = 'AGV01';
  END IF;
END $$;
`;
}

// The transaction may have other steps after this one.
function end(version: number): string {
  return `
INSERT INTO agui.migrations (version) VALUES (${version});
SELECT set_config('search_path', current_setting('holodeck.search_path'), true);
`;
}
