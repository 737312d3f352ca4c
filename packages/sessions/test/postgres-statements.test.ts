import type { PoolClient } from "pg";
import { describe, expect, test } from "vitest";
import type { PgPool } from "../src/postgres/index.ts";
import { startPostgres } from "./_postgres.ts";
import { createPostgresBench } from "./_postgres-bench.ts";
import { codeOf, ending, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "the statements of postgresSessions";
const probe = await startPostgres(suite);
await probe?.stop();
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };
const numbers = (to: number): number[] => Array.from({ length: to }, (_, index) => index + 1);

const { startServer, openStore } = createPostgresBench(suite);

describe.runIf(probe)("a batch of entries", () => {
  test("is one statement, however many it has and however many runs append at once", async () => {
    const server = await startServer();
    const pool = await server.pg();
    const asked: string[] = [];
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        asked.push(/\.(\w+)\(/.exec(text)?.[1] ?? text);
        return pool.query(text, values);
      },
    };
    const store = openStore({ client, schema: await server.schema(), listen: false });
    const leases = await Promise.all(
      numbers(20).map((run) =>
        open(store.runs, { ...thread, threadId: `t${run}`, runId: `r${run}` }),
      ),
    );
    asked.length = 0;
    await store.runs.append(
      leases[0]!,
      numbers(500).map((offset) => mark(offset)),
    );
    await Promise.all(leases.slice(1).map(async (lease) => store.runs.append(lease, [mark(1)])));
    expect(asked.filter((name) => name === "append")).toHaveLength(2);
    expect(offsets(await store.runs.read(leases[0]!, 0))).toEqual(numbers(500));
  });

  test.each(["an append", "an end"])(
    "is not written by %s that waits while another process ends the run",
    async (what) => {
      const server = await startServer();
      const schema = await server.schema();
      const pool = await server.pg();
      const store = openStore({ client: pool, schema, listen: false });
      const lease = await open(store.runs, key);
      await store.runs.append(lease, [mark(1)]);
      const other = (await pool.connect()) as PoolClient;
      await other.query("BEGIN");
      await other.query(`UPDATE ${schema}.runs SET status = 'lost', ended_at = 0`);
      const written = codeOf(() =>
        what === "an append"
          ? store.runs.append(lease, [mark(2)])
          : store.runs.close(lease, ending(2), "finished"),
      );
      // It has begun, and waits for the row that the other process has changed.
      await until(async () => {
        const [row] = (await server.sql(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        )) as [{ n: number }];
        return row.n > 0;
      });
      await other.query("COMMIT");
      other.release();
      expect(await written).toBe("run-lost");
      const rows = await server.sql(`SELECT last FROM ${schema}.entries`);
      expect(rows).toHaveLength(1);
    },
  );
});
