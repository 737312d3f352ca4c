export type { PostgresClient } from "./client/database.ts";
export type { PgPool, PgPoolClient } from "./client/pg.ts";
export type { PostgresJs } from "./client/postgres-js.ts";
export { postgresSessions } from "./postgres-sessions.ts";
export type { PostgresSessionsOptions } from "./postgres-sessions.ts";
export { migrate } from "./schema/migrate.ts";
export type { MigrateOptions } from "./schema/migrate.ts";
export { postgresMigrations } from "./schema/steps.ts";
export type { PostgresMigration } from "./schema/steps.ts";
