import { ulid } from "@holodeck/agui-core";
import type { SessionStore } from "@holodeck/agui-core";
import { Client, Pool } from "pg";
import postgres from "postgres";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { migrate, postgresSessions } from "../src/postgres/index.ts";
import type { PgPool, PostgresSessionsOptions } from "../src/postgres/index.ts";
import { startPostgres } from "./_postgres.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const server = await startPostgres("postgresSessions with the settings of other hosts");
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };
// On a busy machine late is not away.
const patient = { commandMs: 60_000, leaseMs: 120_000 };

describe.runIf(server)("postgresSessions", () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  afterAll(() => server!.stop());

  function openStore(options: PostgresSessionsOptions): SessionStore {
    const store = postgresSessions({ ...patient, ...options });
    closers.push(() => store.close());
    return store;
  }

  /** A thread, a run, and everything that belongs to them. */
  async function useAll(store: SessionStore): Promise<void> {
    await store.create(thread, { agentId: "a", metadata: { title: "x" } });
    const lease = await open(store.runs, key);
    const commands: unknown[] = [];
    store.runs.commands(lease, (command) => commands.push(command));
    const follower = follow(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    await until(async () => (await store.runs.watchers(key)) === 1);
    expect(await store.runs.requestStop(key)).toBe(true);
    await until(() => commands.length === 1);
    const message = { id: "m", role: "user", content: "hi" } as const;
    await store.update(thread, { append: [message], state: 1 }, { lease });
    expect(await store.runs.active(thread)).toMatchObject(key);
    await store.runs.close(lease, ending(2), "finished");
    await follower.ended;
    expect(offsets(follower.entries)).toEqual([1, 2]);
    expect(await store.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 2 });
    await store.touch(thread);
    expect(await store.get(thread)).toMatchObject({ messages: [message], state: 1 });
    expect((await store.list({ principal: "ann", limit: 5 })).items).toHaveLength(1);
    const bucket = ulid();
    expect(await store.take(bucket, 1, { tokens: 1, perMs: 60_000 })).toBe(0);
    expect(await store.take(bucket, 1, { tokens: 1, perMs: 60_000 })).toBeGreaterThan(0);
    const blob = { principal: "ann", id: "b" };
    await store.blobs!.put(blob, bytes(), { ttlMs: 60_000, metadata: {} });
    for await (const piece of (await store.blobs!.get(blob))!.read()) {
      expect([...piece]).toEqual([1, 2, 3]);
    }
    expect(await store.blobs!.size()).toBe(3);
    expect(await store.blobs!.delete(blob)).toBe(true);
    expect(await store.cleanupExpired()).toBe(0);
    expect(await store.delete(thread)).toBe(true);
    expect(await store.count!()).toBe(0);
  }

  test("takes a role with the rights that the README names, and migrate() with it", async () => {
    const schema = await server!.schema();
    await server!.sql(`CREATE ROLE app_${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO app_${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO app_${schema};`);
    const client = await server!.pg({ user: `app_${schema}` });
    expect(await migrate({ client, schema })).toBe(0);
    await useAll(openStore({ client, schema }));
  });

  test.each(["repeatable read", "serializable"])(
    "works where transactions are %s by default",
    async (level) => {
      const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
      const schema = await server!.schema();
      await useAll(openStore({ client: await server!.pg({ options }), schema }));
    },
  );

  test("finds a thread busy that another process takes in the same moment, where transactions are repeatable read", async () => {
    const schema = await server!.schema();
    const options = "-c default_transaction_isolation=repeatable\\ read";
    const store = openStore({ client: await server!.pg({ options }), schema });
    const other = openStore({ client: await server!.pg(), schema });
    // The other one has not committed when this one looks.
    const pool = new Pool({ host: "127.0.0.1", port: server!.port, user: "postgres", max: 1 });
    closers.push(() => pool.end());
    const one = await pool.connect();
    await one.query("BEGIN");
    await one.query(
      `SELECT ${schema}.open_run('ann', 't1', 'r1', 'a', NULL, 'token', 60000, 60000, '{}', NULL)`,
    );
    const opening = store.runs.open({ ...thread, runId: "r2" }, { agentId: "a" });
    await until(async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      return (await server!.sql(waiting)).length > 0;
    });
    await one.query("COMMIT");
    one.release();
    expect(await opening).toMatchObject({ busy: { runId: "r1" } });
    expect(await other.runs.active(thread)).toMatchObject({ runId: "r1" });
  });

  test.each(["''", "public", "nowhere, public", '"$user", public, pg_catalog'])(
    "uses nothing of others with the search path %s",
    async (path) => {
      const database = `path_${path.replaceAll(/\W+/g, "_")}`;
      await server!.sql(`CREATE DATABASE ${database}`);
      const admin = new Pool({ ...place(), database });
      closers.push(() => admin.end());
      // What a neighbour may add to a schema that is open to all: a better match than the system's own.
      await admin.query(`CREATE FUNCTION public.trap(bigint, text) RETURNS text LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$;
        CREATE OPERATOR public.|| (LEFTARG = bigint, RIGHTARG = text, FUNCTION = public.trap);
        CREATE FUNCTION public.trap_at(text, integer) RETURNS text LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$;
        CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = integer, FUNCTION = public.trap_at);
        CREATE FUNCTION public.octet_length(varchar) RETURNS integer LANGUAGE sql AS 'SELECT 1/0';
        CREATE FUNCTION public.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 1/0';`);
      const client = new Pool({ ...place(), database, options: `-c search_path=${escaped(path)}` });
      closers.push(() => client.end());
      await migrate({ client });
      await useAll(openStore({ client }));
    },
  );

  test.each(["order", "user", "table"])("takes the schema %s", async (schema) => {
    const client = await server!.pg();
    await migrate({ client, schema });
    await useAll(openStore({ client, schema }));
    const other = await server!.postgresJs();
    expect(await migrate({ client: other, schema })).toBe(0);
    await useAll(openStore({ client: other, schema }));
  });

  test("refuses one connection in the place of a pool", () => {
    const client = new Client({ host: "127.0.0.1", port: server!.port });
    expect(() => postgresSessions({ client: client as unknown as PgPool })).toThrow(
      "takes a `Pool` of `pg`",
    );
  });

  test("reads the answers of a postgres.js that renames columns", async () => {
    const schema = await server!.schema();
    const client = await server!.postgresJs({ transform: postgres.pascal });
    await useAll(openStore({ client, schema }));
  });

  test("lives for ever where times are infinite", async () => {
    const schema = await server!.schema();
    const infinite = Number.POSITIVE_INFINITY;
    const times = { ttlMs: infinite, runLogMs: infinite, runLogEvents: infinite, leaseMs: 1e4 / 3 };
    await useAll(openStore({ client: await server!.pg(), schema, ...times }));
  });

  test("survives the end of all connections of a pool without a listener for errors", async () => {
    const schema = await server!.schema();
    const client = new Pool(place());
    closers.push(() => client.end());
    const stores = [1, 2].map(() => postgresSessions({ ...patient, client, schema }));
    for (const store of stores) await store.count!();
    const removed = until(() => client.totalCount === 0);
    await server!.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    await removed;
    expect(await stores[0]!.count!()).toBe(0);
    for (const store of stores) await store.close();
    expect(client.listenerCount("error")).toBe(0);
  });

  test("waits for a lock for longer than a statement may take", async () => {
    const schema = await server!.schema();
    const pool = await server!.pg({ statement_timeout: 100, lock_timeout: 50 });
    const failures: unknown[] = [];
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      query: (text, values) =>
        pool.query(text, values).catch((error: unknown) => {
          failures.push((error as { code?: unknown }).code);
          throw error;
        }),
    };
    const store = openStore({ client, schema });
    const lease = await open(store.runs, key);
    const other = new Pool({ ...place(), max: 1 });
    closers.push(() => other.end());
    const holder = await other.connect();
    await holder.query("BEGIN");
    await holder.query(`SELECT FROM ${schema}.runs FOR UPDATE`);
    const appended = store.runs.append(lease, [mark(1)]);
    await until(() => failures.length > 1);
    await holder.query("COMMIT");
    holder.release();
    await appended;
    expect(offsets(await store.runs.read(key, 0))).toEqual([1]);
    expect(new Set(failures)).toEqual(new Set(["55P03"]));
  });

  test("is unavailable in time while the host keeps all connections, and works with the first that is free", async () => {
    const schema = await server!.schema();
    const pool = await server!.pg({ max: 2 });
    const store = openStore({ client: pool, schema, commandMs: 200 });
    const held = [await pool.connect(), await pool.connect()];
    expect(await codeOf(() => store.count!())).toBe("store-unavailable");
    expect(await codeOf(() => store.create(thread, { agentId: "a" }))).toBe("store-unavailable");
    held[0]!.release();
    await until(async () => (await codeOf(() => store.count!())) === undefined);
    held[1]!.release();
  });

  test.each([1, 2, 3])("does everything with a pool of %i", async (max) => {
    const schema = await server!.schema();
    await useAll(openStore({ client: await server!.pg({ max }), schema }));
    await useAll(openStore({ client: await server!.postgresJs({ max }), schema }));
  });

  test("makes up for what was sent while postgres.js had no connection for notifications", async () => {
    const schema = await server!.schema();
    const owner = openStore({ client: await server!.pg(), schema });
    const real = await server!.postgresJs();
    let isDeaf = false;
    let isListening = false;
    let reconnected = (): void => undefined;
    const view = openStore({
      schema,
      client: {
        options: real.options,
        unsafe: (...args) => real.unsafe(...args),
        listen: (channel, notify, ready) => {
          reconnected = () => ready?.();
          const hear = (payload: string): void => {
            if (isDeaf) return;
            notify(payload);
            // It relies on notifications when its own has come back.
            isListening ||= payload.startsWith("?");
          };
          return real.listen(channel, hear, ready);
        },
      },
    });
    const lease = await open(owner.runs, key);
    const follower = follow(view.runs, key);
    await owner.runs.append(lease, [mark(1)]);
    await until(() => isListening && follower.entries.length === 1);
    isDeaf = true;
    await owner.runs.append(lease, [mark(2)]);
    isDeaf = false;
    reconnected();
    await until(() => follower.entries.length === 2);
  });

  function place(): { host: string; port: number; user: string; database: string } {
    return { host: "127.0.0.1", port: server!.port, user: "postgres", database: "postgres" };
  }
});

// Spaces end an option of the connection.
const escaped = (value: string): string => value.replaceAll(" ", "\\ ");

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([1, 2, 3]);
}
