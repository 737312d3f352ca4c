import { fileURLToPath } from "node:url";
import type { Session } from "@holodeck/agui-core";
import { isAgentError } from "@holodeck/agui-core";
import fc from "fast-check";
import { Pool } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { migrate, postgresMigrations, postgresSessions } from "../src/postgres/index.ts";
import { clientKinds, connectAs, startPostgres } from "./_postgres.ts";
import { ending, mark, offsets, open } from "./_redis-runs.ts";

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
    "makes the tables once, however many ask at once, with %s",
    async (kind) => {
      const client = await connectAs(server!, kind);
      const schema = `once_${kind.toLowerCase()}`;
      const made = await Promise.all([1, 2, 3, 4].map(() => migrate({ client, schema })));
      expect(made.toSorted((one, other) => one - other)).toEqual([
        0,
        0,
        0,
        postgresMigrations().length,
      ]);
      expect(await migrate({ client, schema })).toBe(0);
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

  test("can be followed by a role without the right to make tables", async () => {
    const schema = await server!.schema();
    await server!.sql(`CREATE ROLE app_${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO app_${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO app_${schema};`);
    const store = postgresSessions({
      client: await server!.pg({ user: `app_${schema}` }),
      schema,
    });
    const key = { principal: "ann", threadId: "t", runId: "r" };
    await store.create(key, { agentId: "a" });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    await store.runs.close(lease, ending(2), "finished");
    expect(offsets(await store.runs.read(key, 0))).toEqual([1, 2]);
    await store.blobs!.put({ principal: "ann", id: "b" }, bytes(), { ttlMs: 60_000, metadata: {} });
    expect(await store.delete(key)).toBe(true);
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
          const opened = await store.runs.open(key, { agentId: value });
          // A run of this name may be on another thread of the principal.
          if ("busy" in opened) return;
          await store.runs.append(opened, [mark(1, value)]);
          expect(await store.runs.find(principal, key.runId)).toMatchObject(key);
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
