import type * as Pg from "pg";
import type { PgPool } from "@holodeck/agui-sessions/postgres";
import { CliError, usageError } from "./cli-error.ts";
import type { OpenStore, StoreBounds } from "./open-store.ts";
import { reasonOf } from "./reason-of.ts";
import { withoutSecrets } from "./server-url.ts";

/** Threads in PostgreSQL. The tables are made when they are missing. */
export async function openPostgres(
  url: string,
  { bounds, isLazy }: { bounds: StoreBounds; isLazy: boolean },
): Promise<OpenStore> {
  if (!URL.canParse(url)) {
    throw usageError(`"${url}" is not a PostgreSQL URL, like postgres://127.0.0.1:5432/app.`);
  }
  const name = withoutSecrets(url);
  const [{ Pool }, { migrate, postgresSessions }] = await Promise.all([
    importDriver(),
    import("@holodeck/agui-sessions/postgres"),
  ]);
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 3_000 });
  // Statements report errors to their callers; without a listener, an idle connection would end the process.
  pool.on("error", () => undefined);
  let migrated: Promise<unknown> | undefined;
  const prepare = async (): Promise<void> => {
    migrated ??= migrate({ client: pool });
    try {
      await migrated;
    } catch (error) {
      migrated = undefined;
      throw error;
    }
  };
  try {
    if (!isLazy) await prepare();
  } catch (error) {
    await pool.end();
    throw new CliError(`PostgreSQL at ${name} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  const client: PgPool = {
    options: pool.options,
    connect: () => pool.connect(),
    async query(text, values) {
      await prepare();
      return pool.query(text, values);
    },
  };
  const sessions = postgresSessions({ ...bounds, client });
  return {
    sessions,
    name,
    async close() {
      await sessions.close();
      await pool.end();
    },
  };
}

// Optional: a machine that installs without optional dependencies does not have it.
async function importDriver(): Promise<typeof Pg> {
  try {
    return await import("pg");
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(
      "Sessions in PostgreSQL need the package pg, which is not installed: npm install pg.",
      { cause: error },
    );
  }
}
