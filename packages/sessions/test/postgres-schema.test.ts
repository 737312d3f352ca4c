import { fileURLToPath } from "node:url";
import type { Session } from "@holodeck/agui-core";
import { isAgentError } from "@holodeck/agui-core";
import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { migrate, postgresMigrations, postgresSessions } from "../src/postgres/index.ts";
import { clientKinds, connectAs, startPostgres } from "./_postgres.ts";
import { ending, mark } from "./_redis-runs.ts";

const server = await startPostgres("the tables of postgresSessions");

test("its SQL is a file of the package, in the default schema", async () => {
  for (const { version, sql } of postgresMigrations()) {
    const file = fileURLToPath(new URL(`../sql/postgres-${version}.sql`, import.meta.url));
    await expect(sql).toMatchFileSnapshot(file);
  }
});

test("its SQL names another schema everywhere when it is given one", () => {
  for (const { sql } of postgresMigrations({ schema: "chat" })) {
    expect(sql.replaceAll("@holodeck/agui-sessions", "")).not.toMatch(/agui/);
  }
});

test.each(["", "a b", 'a"b', "A", "1a", "pg_agui", "x".repeat(64)])(
  "the schema %j is refused",
  (schema) => {
    expect(() => postgresMigrations({ schema })).toThrow(TypeError);
    const client = new Pool();
    expect(() => postgresSessions({ client, schema })).toThrow(TypeError);
  },
);

test("anything but a pool of pg or an instance of postgres is refused", () => {
  expect(() => postgresSessions({ client: {} as never })).toThrow(TypeError);
});

describe.runIf(server)("migrate", () => {
  afterAll(() => server!.stop());

  test.each(clientKinds)(
    "makes the tables once, however many processes ask at once, with %s",
    async (kind) => {
      const clients = await Promise.all([1, 2, 3, 4, 5].map(() => connectAs(server!, kind)));
      const schema = `once_${kind.toLowerCase()}`;
      const made = await Promise.all(
        clients.flatMap((client) => [migrate({ client, schema }), migrate({ client, schema })]),
      );
      expect(made.reduce((sum, one) => sum + one, 0)).toBe(postgresMigrations().length);
      expect(await migrate({ client: clients[0]!, schema })).toBe(0);
    },
  );

  test("leaves the search path of a transaction that has other steps", async () => {
    const sql = postgresMigrations({ schema: "among" }).map((step) => step.sql);
    await server!.sql(`BEGIN; CREATE TABLE one (); ${sql.join("")} CREATE TABLE two (); COMMIT;`);
    const tables =
      "SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename IN ('one', 'two')";
    expect(await server!.sql(tables)).toHaveLength(2);
  });

  test("is refused by a database that cannot keep every text", async () => {
    await server!.sql(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    const client = await server!.pg({ database: "latin" });
    await expect(migrate({ client })).rejects.toThrow("must have the encoding UTF8");
  });

  test.each(["99999999999999999999:1", "1:99999999999999999999", "1e9:1", "-1:1", "x", "1"])(
    "makes tables whose lists refuse the cursor %s",
    async (cursor) => {
      const store = postgresSessions({
        client: await server!.pg(),
        schema: await server!.schema(),
      });
      const error = await Promise.resolve(store.list({ principal: "", limit: 1, cursor })).catch(
        (error: unknown) => error,
      );
      expect(isAgentError(error) && error.code).toBe("invalid-request");
      await store.close();
    },
  );

  test("can be done by another tool, with the SQL of the package", async () => {
    for (const { sql } of postgresMigrations({ schema: "by_hand" })) await server!.sql(sql);
    const client = await server!.pg();
    expect(await migrate({ client, schema: "by_hand" })).toBe(0);
    const store = postgresSessions({ client, schema: "by_hand" });
    await store.create({ principal: "", threadId: "t" }, { agentId: "a" });
    expect(await store.count!()).toBe(1);
    await store.close();
  });

  test("is refused by a schema of a newer release", async () => {
    const schema = await server!.schema();
    await server!.sql(`INSERT INTO ${schema}.migrations (version) VALUES (99)`);
    const client = await server!.pg();
    await expect(migrate({ client, schema })).rejects.toThrow("has version 99");
  });

  test("is named by the error of a store whose tables are missing", async () => {
    const store = postgresSessions({ client: await server!.pg(), schema: "nowhere" });
    const error = await Promise.resolve(store.get({ principal: "", threadId: "t" })).catch(
      (error: unknown) => error,
    );
    expect(isAgentError(error) && error.code).toBe("store-unavailable");
    expect(String(error)).toContain("migrate()");
    await store.close();
  });

  test.each(clientKinds)(
    "leaves room for any text in ids and values, NUL and half characters too, with %s",
    async (kind) => {
      const schema = await server!.schema();
      const store = postgresSessions({ client: await connectAs(server!, kind), schema });
      const unit = fc.oneof(
        fc.constantFrom("\0", "\ud83c", "\udf26", "\\", '"', "'", "{", "}", ",", "\n", "ü", "😀"),
        fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
      );
      const text = fc
        .array(unit, { minLength: 1, maxLength: 12 })
        .map((parts) => parts.join(""))
        .chain((short) => fc.constantFrom(short, short.padEnd(1_024, short)));
      const seen = new Map<string, string>();
      await fc.assert(
        fc.asyncProperty(text, text, text, async (principal, threadId, value) => {
          const key = { principal, threadId, runId: `${threadId}${value}`.slice(0, 1_024) };
          const name = JSON.stringify([principal, threadId]);
          if (seen.has(name)) return;
          seen.set(name, value);
          await store.create(key, { agentId: value, metadata: { [value]: value } });
          await store.update(key, {
            append: [{ id: value, role: "user", content: value }],
            state: { [value]: [value] },
            lastRunId: value,
          });
          const session = (await store.get(key)) as Session;
          expect(session).toMatchObject({ principal, threadId, agentId: value, lastRunId: value });
          expect(session.messages).toEqual([{ id: value, role: "user", content: value }]);
          expect(JSON.stringify([session.metadata, session.state])).toBe(
            JSON.stringify([{ [value]: value }, { [value]: [value] }]),
          );
          const opened = await store.runs.open(key, { agentId: value, protocolVersion: value });
          // A run of this name may be on another thread of the principal.
          if ("busy" in opened) return;
          await store.runs.append(opened, [mark(1, value)]);
          const found = await store.runs.find(principal, key.runId);
          expect(found).toMatchObject({ ...key, agentId: value, protocolVersion: value });
          expect(await store.take(value, 1, { tokens: 1, perMs: 60_000 })).toBeGreaterThanOrEqual(
            0,
          );
          const blob = { principal, id: threadId };
          const metadata = { [value]: value };
          await store.blobs!.put(blob, bytes(), { ttlMs: 60_000, metadata });
          expect(await store.blobs!.get(blob)).toMatchObject({ size: 3, metadata });
          const { items } = await store.list({ principal, agentId: value, limit: 1_000 });
          expect(items.map((item) => item.threadId)).toContain(threadId);
          expect(await store.runs.read(key, 0)).toEqual([mark(1, value)]);
          await store.runs.close(opened, ending(2), "finished");
        }),
        { numRuns: 60 },
      );
      for (const [name, value] of seen) {
        const [principal, threadId] = JSON.parse(name) as [string, string];
        expect(await store.get({ principal, threadId })).toMatchObject({ agentId: value });
      }
      await store.close();
    },
  );
});

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([1, 2, 3]);
}
