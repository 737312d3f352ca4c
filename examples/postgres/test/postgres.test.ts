import { migrate, postgresMigrations, postgresSessions } from "@holodeck/agui-sessions/postgres";
import type { PostgresClient } from "@holodeck/agui-sessions/postgres";
import { clients } from "@holodeck/example-shared";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as migrateByDrizzle } from "drizzle-orm/node-postgres/migrator";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import type { Migration } from "kysely/migration";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import postgres from "postgres";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { startPostgres } from "../../../packages/sessions/test/_postgres.ts";
import { start } from "../server.ts";

const database = await startPostgres("the example on PostgreSQL");
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => database?.stop());

async function newDatabase(name: string): Promise<string> {
  await database!.sql(`CREATE DATABASE ${name}`);
  return `postgres://postgres@127.0.0.1:${database!.port}/${name}`;
}

describe.runIf(database)("two processes on one PostgreSQL", () => {
  test.for(clients.map((client, index) => [client.name, client, index] as const))(
    "continue each other's threads for %s",
    async ([, client, index]) => {
      const connectionString = await newDatabase(`threads_${index}`);
      const servers = [
        await start({ connectionString, port: 0 }),
        await start({ connectionString, port: 0 }),
      ];
      closers.push(() => Promise.all(servers.map((server) => server.close())));
      const urls = servers.map(({ url }) => url);
      let asked = 0;
      // As a load balancer does.
      const balanced = (url: string, init: RequestInit): Promise<Response> =>
        fetch(url.replace(urls[0]!, urls[asked++ % 2]!), init);
      const chat = client.open(`${urls[0]}/agui`, { fetch: balanced });
      await chat.send("one");
      await chat.send("two");
      expect(asked).toBe(2);
      expect(chat.messages.at(-1)).toMatchObject({ content: "Question 2: two" });
    },
  );
});

describe.runIf(database)("the tables, made by", () => {
  /** One thread, on the client that the app has anyway. */
  async function use(client: PostgresClient): Promise<void> {
    expect(await migrate({ client })).toBe(0);
    const sessions = postgresSessions({ client });
    await sessions.create({ principal: "ann", threadId: "t" }, { agentId: "a" });
    expect(await sessions.count?.()).toBe(1);
    await sessions.close();
  }

  test("Kysely, between migrations of the app", async () => {
    const pool = new Pool({ connectionString: await newDatabase("by_kysely") });
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    closers.push(() => db.destroy());
    const table = (name: string): Migration => ({
      up: (db) => db.schema.createTable(name).addColumn("id", "integer").execute(),
    });
    const agui = postgresMigrations().map(({ version, sql: text }): [string, Migration] => [
      `2_agui_${version}`,
      { up: async (db) => void (await sql.raw(text).execute(db)) },
    ]);
    const all = {
      "1_before": table("before"),
      ...Object.fromEntries(agui),
      "3_after": table("after"),
    };
    const migrator = new Migrator({ db, provider: { getMigrations: async () => all } });
    const { error, results } = await migrator.migrateToLatest();
    expect(error).toBeUndefined();
    expect(results?.map(({ status }) => status)).toEqual(Object.keys(all).map(() => "Success"));
    const tables = await db.introspection.getTables();
    const own = tables.filter(({ schema }) => schema === "public").map(({ name }) => name);
    expect(own.toSorted()).toEqual(["after", "before"]);
    await use(pool);
  });

  test("Drizzle, between migrations of the app", async () => {
    const connectionString = await newDatabase("by_drizzle");
    const folder = mkdtempSync(join(tmpdir(), "agui-drizzle-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const { resolve } = createRequire(import.meta.url);
    const ours = resolve("@holodeck/agui-sessions/sql/postgres-1.sql");
    // As `drizzle-kit generate` and `drizzle-kit generate --custom` leave them.
    const files = {
      "0000_before": "CREATE TABLE before (id integer);",
      "0001_agui": readFileSync(ours, "utf8"),
      "0002_after": "CREATE TABLE after (id integer);",
    };
    const entries = Object.entries(files).map(([tag, text], idx) => {
      writeFileSync(join(folder, `${tag}.sql`), text);
      return { idx, version: "7", when: idx + 1, tag, breakpoints: true };
    });
    mkdirSync(join(folder, "meta"));
    const journal = { version: "7", dialect: "postgresql", entries };
    writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify(journal));
    expect(readMigrationFiles({ migrationsFolder: folder })).toHaveLength(3);

    const pool = new Pool({ connectionString });
    closers.push(() => pool.end());
    const db = drizzle(pool);
    await migrateByDrizzle(db, { migrationsFolder: folder });
    const own = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
    expect((await pool.query(own)).rows).toEqual([{ tablename: "after" }, { tablename: "before" }]);
    await use(db.$client);
  });

  test("migrate() with postgres.js", async () => {
    const client = postgres(await newDatabase("by_postgres_js"), { onnotice: () => undefined });
    closers.push(() => client.end());
    expect(await migrate({ client })).toBe(postgresMigrations().length);
    await use(client);
  });
});
