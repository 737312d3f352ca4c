import { EventType } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { Client } from "pg";
import type { PoolClient } from "pg";
import { describe, expect, test } from "vitest";
import type { PgPool, PostgresSessionsOptions } from "../src/postgres/index.ts";
import { startPostgres } from "./_postgres.ts";
import { createPostgresBench } from "./_postgres-bench.ts";
import { ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "what postgresSessions asks of PostgreSQL";
const probe = await startPostgres(suite);
await probe?.stop();
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };

const { startServer, openStore, onEnd } = createPostgresBench(suite);

const result = (offset: number): LogEntry => ({
  from: offset,
  to: offset,
  at: offset,
  event: {
    type: EventType.TOOL_CALL_RESULT,
    messageId: "m",
    toolCallId: "c",
    content: "done",
  },
});

// The server writes what was not waited for after ten seconds, and not after a fraction of one.
const lazyDisk = ["-c", "wal_writer_delay=10s", "-c", "autovacuum=off", "-c", "bgwriter_delay=10s"];

describe.runIf(probe)("what survives a crash of the server", () => {
  test("deltas do not wait for the disk; openings, tool results, sessions and ends do", async () => {
    const server = await startServer();
    const schema = await server.schema();
    const pool = await server.pg();
    const seen: string[] = [];
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      // In a transaction, so that what a statement has set can be asked for before it is committed.
      async query(text, values) {
        const connection = (await pool.connect()) as PoolClient;
        await connection.query("BEGIN");
        const result = await connection.query(text, values);
        const { rows } = await connection.query("SHOW synchronous_commit");
        await connection.query("COMMIT");
        connection.release();
        const name = /\.(\w+)\(/.exec(text)![1];
        seen.push(`${name} ${(rows as { synchronous_commit: string }[])[0]!.synchronous_commit}`);
        return result;
      },
    };
    const store = openStore({ client, schema, listen: false });
    await store.create(thread, { agentId: "a" });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    await store.runs.append(lease, [result(2)]);
    await store.runs.append(lease, [mark(3)]);
    await store.update(thread, { state: 1 }, { lease });
    await store.runs.close(lease, ending(4), "finished");
    expect(seen.filter((one) => !/^(look|read_session|probe) /.test(one))).toEqual([
      "create_session on",
      "open_run on",
      "append off",
      "append on",
      "append off",
      "write_session on",
      "close_run on",
    ]);
  });

  test("an end that was acknowledged is there after it, with everything before it", async () => {
    const server = await startServer(lazyDisk);
    const schema = await server.schema();
    const store = openStore({ client: await server.pg(), schema, listen: false });
    await store.create(thread, { agentId: "a" });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1), mark(2)]);
    await store.update(thread, { state: "kept" }, { lease });
    await store.runs.append(lease, [mark(3)]);
    await store.runs.close(lease, ending(4), "finished");
    await server.shutDown("immediate");
    await server.start();
    const after = openStore({ client: await server.pg(), schema });
    expect(await after.runs.find("ann", "r1")).toMatchObject({ status: "finished", last: 4 });
    expect(offsets(await after.runs.read(key, 0))).toEqual([1, 2, 3, 4]);
    expect(await after.get(thread)).toMatchObject({ state: "kept" });
  });

  test("a text that was lost with it is appended again by the process that owns the run", async () => {
    const server = await startServer(lazyDisk);
    const schema = await server.schema();
    const store = openStore({ client: await server.pg(), schema, listen: false });
    const lease = await open(store.runs, key);
    for (let offset = 1; offset <= 5; offset++) await store.runs.append(lease, [mark(offset)]);
    await server.shutDown("immediate");
    await server.start();
    const [stored] = (await server.sql(`SELECT last::int AS last FROM ${schema}.runs`)) as [
      { last: number },
    ];
    expect(stored.last).toBeLessThan(5);
    // Clients of this process have received it, and come back for what follows.
    expect(offsets(await store.runs.read(key, 2, 2))).toEqual([3, 4]);
    expect(offsets(await store.runs.read(key, 4))).toEqual([5]);
    await store.runs.append(lease, [mark(6)]);
    await store.runs.close(lease, ending(7), "finished");
    expect(offsets(await store.runs.read(key, 0))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});

describe.runIf(probe)("notifications", () => {
  test("have one connection per process, however many runs are followed", async () => {
    const server = await startServer();
    const schema = await server.schema();
    const owner = openStore({ client: await server.pg({ max: 4 }), schema, listen: false });
    const view = openStore({ client: await server.pg({ max: 4 }), schema });
    const runs = await Promise.all(
      Array.from({ length: 40 }, async (_, number) => {
        const one = { ...thread, threadId: `t${number}`, runId: `r${number}` };
        const lease = await open(owner.runs, one);
        return { lease, follower: follow(view.runs, one) };
      }),
    );
    for (const { lease } of runs) await owner.runs.append(lease, [mark(1)]);
    await until(() => runs.every(({ follower }) => follower.entries.length === 1));
    const listening = async (): Promise<number> =>
      (await server.sql("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")).length;
    await until(async () => (await listening()) === 1);
    for (const { lease } of runs) await owner.runs.close(lease, ending(2), "finished");
    await Promise.all(runs.map(({ follower }) => follower.ended));
    expect(await listening()).toBe(1);
  });

  test("have the number of a run and an offset, and no text", async () => {
    const server = await startServer();
    const schema = await server.schema();
    const heard: string[] = [];
    const client = new Client({
      host: "127.0.0.1",
      port: server.port,
      user: "postgres",
      database: "postgres",
    });
    await client.connect();
    onEnd(() => client.end());
    client.on("notification", ({ payload }) => heard.push(payload ?? ""));
    await client.query(`LISTEN ${schema}`);
    const owner = openStore({ client: await server.pg(), schema });
    const view = openStore({ client: await server.pg(), schema });
    const secret = { ...thread, threadId: "secret-thread", runId: "secret-run" };
    await owner.create(secret, { agentId: "a" });
    const lease = await open(owner.runs, secret);
    const follower = follow(view.runs, secret);
    await until(async () => (await owner.runs.watchers(secret)) === 1);
    // Longer than a notification may be.
    await owner.runs.append(lease, [mark(1, "secret text".repeat(2_000))]);
    await view.runs.send(secret, { type: "tool-result", toolCallId: "secret-call" });
    await owner.runs.close(lease, ending(2), "finished");
    await follower.ended;
    await until(() => heard.includes(`${lease.fence} 2`));
    const ours = heard.filter((payload) => !/^\?[0-9A-Z]{26} \d+$/.test(payload));
    expect(ours).toEqual([`${lease.fence} 1`, `${lease.fence}`, `${lease.fence} 2`]);
  });
});

describe.runIf(probe)("the tables", () => {
  test("have an index that gives a thread to one run only", async () => {
    const server = await startServer();
    const schema = await server.schema();
    const [index] = (await server.sql(
      `SELECT indexdef FROM pg_indexes WHERE schemaname = '${schema}' AND indexname = 'runs_busy'`,
    )) as [{ indexdef: string }];
    expect(index.indexdef).toMatch(/^CREATE UNIQUE INDEX .* WHERE \(status = 'running'::text\)$/);
    const stores = [
      openStore({ client: await server.pg(), schema }),
      openStore({ client: await server.postgresJs(), schema }),
    ];
    const opened = await Promise.all(
      Array.from({ length: 20 }, async (_, number) =>
        stores[number % 2]!.runs.open({ ...thread, runId: `r${number}` }, { agentId: "a" }),
      ),
    );
    const leases = opened.filter((one) => !("busy" in one));
    expect(leases).toHaveLength(1);
    for (const one of opened) {
      if ("busy" in one) expect(one.busy.runId).toBe((leases[0] as { runId: string }).runId);
    }
  });
});

describe.runIf(probe)("what has expired", () => {
  /** A store whose statements are counted, and whose sweep comes when its clock is set forward. */
  async function openCounted(options: Partial<PostgresSessionsOptions>) {
    const server = await startServer();
    const schema = await server.schema();
    const pool = await server.pg();
    const rows = async (table: string): Promise<number> => {
      const [row] = (await server.sql(`SELECT count(*)::int AS n FROM ${schema}.${table}`)) as [
        { n: number },
      ];
      return row.n;
    };
    const removed: Record<string, number>[] = [];
    let counting = 0;
    const tables = ["entries", "messages", "sessions", "runs", "buckets"];
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        if (!/\.(sweep|expire_sessions)\(/.test(text)) return pool.query(text, values);
        counting++;
        const before = await Promise.all(tables.map(rows));
        const result = await pool.query(text, values);
        const after = await Promise.all(tables.map(rows));
        counting--;
        removed.push(
          Object.fromEntries(tables.map((name, at) => [name, before[at]! - after[at]!])),
        );
        return result;
      },
    };
    const clock = fakeClock();
    const store = openStore({ client, schema, clock, listen: false, ...options });
    /** Sweeps as they follow each other, until one has nothing to do for a while. */
    const sweepAll = async (table: string): Promise<void> => {
      await clock.advance(60_000);
      await until(async () => {
        await clock.advance(300);
        // What the last sweep has removed is counted a moment after it is gone.
        return (await rows(table)) === 0 && counting === 0;
      });
    };
    return { server, schema, store, rows, removed, sweepAll };
  }

  test("is removed in small pieces: the entries of a long log", async () => {
    const { store, removed, sweepAll } = await openCounted({ runLogMs: 1 });
    const lease = await open(store.runs, key);
    for (let from = 1; from <= 7_000; from += 1_000) {
      const entries = Array.from({ length: 1_000 }, (_, at) => mark(from + at));
      await store.runs.append(lease, entries);
    }
    await store.runs.close(lease, ending(7_001), "finished");
    await sweepAll("runs");
    expect(Math.max(...removed.map(({ entries }) => entries!))).toBe(2_000);
    expect(removed.reduce((sum, { entries }) => sum + entries!, 0)).toBe(7_001);
  });

  test("is removed as fast as it comes: many short logs, and many rate limits", async () => {
    const { server, schema, store, rows, sweepAll } = await openCounted({ runLogMs: 1 });
    for (let number = 0; number < 250; number++) {
      const one = { ...thread, threadId: `t${number}`, runId: `r${number}` };
      const lease = await open(store.runs, one);
      await store.runs.close(lease, ending(1), "finished");
    }
    await server.sql(`INSERT INTO ${schema}.buckets (key, tokens, wait, at, full_at)
      SELECT sha256(n::text::bytea), 1, 0, 0, 0 FROM generate_series(1, 2500) AS n`);
    await sweepAll("runs");
    await sweepAll("buckets");
    expect(await rows("entries")).toBe(0);
  });

  test("is removed in small pieces: the messages and the logs of threads", async () => {
    const options = { ttlMs: 60_000, runLogMs: 24 * 60 * 60_000 };
    const { server, schema, store, rows, removed, sweepAll } = await openCounted(options);
    for (let number = 0; number < 6; number++) {
      const one = { ...thread, threadId: `t${number}`, runId: `r${number}` };
      await store.create(one, { agentId: "a" });
      const append = Array.from({ length: 900 }, (_, at) => ({
        id: `m${at}`,
        role: "user" as const,
        content: "x",
      }));
      const lease = await open(store.runs, one);
      await store.update(one, { append }, { lease });
      const entries = Array.from({ length: 900 }, (_, at) => mark(at + 1));
      await store.runs.append(lease, entries);
      await store.runs.close(lease, ending(901), "finished");
    }
    await server.sql(`UPDATE ${schema}.sessions SET last_activity = 0`);
    await sweepAll("sessions");
    expect(await store.runs.find("ann", "r0")).toBeUndefined();
    await sweepAll("runs");
    expect(await Promise.all(["entries", "messages"].map(rows))).toEqual([0, 0]);
    // One thread is removed whole.
    expect(Math.max(...removed.map(({ messages }) => messages!))).toBeLessThanOrEqual(2_900);
    expect(Math.max(...removed.map(({ entries }) => entries!))).toBeLessThanOrEqual(2_000);
  });
});
