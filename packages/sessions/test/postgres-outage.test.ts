import { isAgentError } from "@holodeck/agui-core";
import type { LogEntry } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import type { PgPool } from "../src/postgres/index.ts";
import { isLost } from "./_is-lost.ts";
import { clientKinds, connectAs, startPostgres } from "./_postgres.ts";
import type { TestPostgres } from "./_postgres.ts";
import { createPostgresBench } from "./_postgres-bench.ts";
import { promoteStandby, startStandby } from "./_postgres-standby.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

const suite = "postgresSessions when PostgreSQL is away";
const thread = { principal: "ann", threadId: "t1" };
const key = { ...thread, runId: "r1" };
const probe = await startPostgres(suite);
await probe?.stop();
const numbers = (to: number): number[] => Array.from({ length: to }, (_, index) => index + 1);

const { startServer, openStore, onEnd } = createPostgresBench(suite);

describe.runIf(probe).each(clientKinds)("when PostgreSQL is away, with %s", (kind) => {
  const faults: readonly [string, (server: TestPostgres) => Promise<unknown>][] = [
    [
      "a restart",
      async (server) => {
        await server.shutDown("fast");
        await server.start();
      },
    ],
    [
      "a crash",
      async (server) => {
        await server.shutDown("immediate");
        await server.start();
      },
    ],
    [
      "the end of all connections",
      (server) =>
        server.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
        ),
    ],
  ];
  test.each(faults)("a run and its followers go on after %s", async (_, fail) => {
    // Nothing that is committed without waiting is written by itself: a crash takes it.
    const server = await startServer(["-c", "wal_writer_delay=10s", "-c", "fsync=on"]);
    const schema = await server.schema();
    const owner = openStore({ client: await connectAs(server, kind), schema });
    const view = openStore({ client: await connectAs(server, kind), schema });
    await owner.create(thread, { agentId: "a" });
    const lease = await open(owner.runs, key);
    const follower = follow(view.runs, key);
    for (const offset of numbers(20)) await owner.runs.append(lease, [mark(offset)]);
    await until(() => follower.entries.length > 0);
    await fail(server);
    for (const offset of numbers(20)) await owner.runs.append(lease, [mark(20 + offset)]);
    await owner.update(thread, { state: "after" }, { lease });
    await owner.runs.close(lease, ending(41), "finished");
    await follower.ended;
    expect(offsets(follower.entries)).toEqual(numbers(41));
    expect(offsets(await view.runs.read(key, 0))).toEqual(numbers(41));
    expect(await view.get(thread)).toMatchObject({ state: "after" });
    expect(isLost(lease)).toBe(false);
  });

  test("every call fails in time while the server is stopped, and works again afterwards", async () => {
    const server = await startServer();
    const client = await connectAs(server, kind);
    const schema = await server.schema();
    const store = openStore({ client, schema, commandMs: 500 });
    await store.create(thread, { agentId: "a" });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    server.pause();
    const codes = await Promise.all([
      codeOf(() => store.get(thread)),
      codeOf(() => store.update(thread, { state: 1 })),
      codeOf(() => store.runs.append(lease, [mark(2)])),
      codeOf(() => store.runs.find("ann", "r1")),
      codeOf(() => store.take("b", 1, { tokens: 1, perMs: 1_000 })),
    ]);
    server.resume();
    expect(codes).toEqual(codes.map(() => "store-unavailable"));
    // What was given up may have landed: only the server knows where the end belongs.
    await until(async () => (await codeOf(() => store.get(thread))) === undefined);
    await store.runs.close(lease, ending(2), "failed");
    const { last, status } = (await store.runs.find("ann", "r1"))!;
    expect(status).toBe("failed");
    expect(offsets(await store.runs.read(key, 0))).toEqual(numbers(last));
  });
});

describe.runIf(probe)("a write whose answer was lost", () => {
  test("is made once: entries, ends, sessions, commands and openings", async () => {
    const server = await startServer();
    const pool = await server.pg();
    let losing = false;
    let lost = 0;
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        const result = await pool.query(text, values);
        if (!losing) return result;
        losing = false;
        lost++;
        throw Object.assign(new Error("Connection terminated unexpectedly"), { code: undefined });
      },
    };
    const store = openStore({ client, schema: await server.schema() });
    async function losingOne<T>(work: () => T): Promise<Awaited<T>> {
      losing = true;
      return await work();
    }
    const before = await losingOne(() => store.create(thread, { agentId: "a" }));
    expect(before.version).toBe(1);
    const lease = await losingOne(() => open(store.runs, key));
    await losingOne(() => store.runs.append(lease, [mark(1), mark(2)]));
    await losingOne(() => store.runs.append(lease, [mark(3)]));
    const seen: unknown[] = [];
    store.runs.commands(lease, (command) => seen.push(command));
    await losingOne(() => store.runs.send(key, { type: "tool-result", toolCallId: "c" }));
    await store.runs.send(key, { type: "stop" });
    await until(() => seen.length >= 2);
    // The read of an update comes first: its write is the second call.
    let calls = 0;
    const query = client.query.bind(client);
    client.query = async (text, values) => {
      losing = ++calls === 2;
      return query(text, values);
    };
    const user = { id: "1", role: "user", content: "x" } as const;
    const after = await store.update(thread, { append: [user] }, { lease });
    client.query = query;
    expect(after.version).toBe(2);
    expect(await store.get(thread)).toMatchObject({ version: 2, messages: [user] });
    await losingOne(() => store.runs.close(lease, ending(4), "finished"));
    expect(seen).toMatchObject([{ type: "tool-result" }, { type: "stop" }]);
    expect(await store.runs.read(key, 0)).toMatchObject([
      mark(1),
      mark(2),
      mark(3),
      ending(4),
    ] as LogEntry[]);
    expect(lost).toBe(7);
  });
});

describe.runIf(probe)("a write whose answer was lost while another process wrote", () => {
  test("is made once: a new thread, and a message", async () => {
    const server = await startServer();
    const pool = await server.pg();
    const schema = await server.schema();
    const other = openStore({ client: await server.pg(), schema });
    let meanwhile: (() => unknown) | undefined;
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        const result = await pool.query(text, values);
        const work = /\.(create|write)_session\(/.test(text) ? meanwhile : undefined;
        if (!work) return result;
        meanwhile = undefined;
        await work();
        throw Object.assign(new Error("Connection terminated unexpectedly"), { code: undefined });
      },
    };
    const store = openStore({ client, schema });
    const user = (id: string) => ({ id, role: "user", content: id }) as const;
    meanwhile = () => other.update(thread, { append: [user("theirs")] });
    expect(await store.create(thread, { agentId: "a" })).toMatchObject({ version: 1 });
    meanwhile = async () => {
      for (let state = 1; state <= 3; state++) await other.update(thread, { state });
    };
    await store.update(thread, { append: [user("ours")] }, { ifVersion: 2 });
    expect(await store.get(thread)).toMatchObject({
      version: 6,
      state: 3,
      messages: [user("theirs"), user("ours")],
    });
  });
});

describe.runIf(probe)("a run whose end could not be stored", () => {
  test("is given up after its lease, and the process asks for nothing", async () => {
    const server = await startServer();
    const pool = await server.pg();
    let isAway = false;
    const asked: string[] = [];
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        asked.push(text);
        if (isAway) throw Object.assign(new Error("full"), { code: "53100" });
        return pool.query(text, values);
      },
    };
    const clock = fakeClock();
    const leaseMs = 3_000;
    const schema = await server.schema();
    const store = openStore({ client, schema, clock, leaseMs, listen: false });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    isAway = true;
    expect(await codeOf(() => store.runs.append(lease, [mark(2)]))).toBe("store-unavailable");
    expect(await codeOf(() => store.runs.close(lease, ending(2), "failed"))).toBe(
      "store-unavailable",
    );
    isAway = false;
    expect(isLost(lease)).toBe(false);
    for (let beat = 0; beat < 60; beat++) await clock.advance(100);
    await until(() => isLost(lease));
    await until(async () => {
      asked.length = 0;
      for (let beat = 0; beat < 60; beat++) await clock.advance(100);
      return asked.length === 0;
    });
  });
});

describe.runIf(probe)("appends of a run that are not awaited", () => {
  test("store no entry beyond the end that is known", async () => {
    const server = await startServer();
    const store = openStore({ client: await server.pg(), schema: await server.schema() });
    const lease = await open(store.runs, key);
    const results = await Promise.allSettled([
      store.runs.append(lease, [mark(1), mark(2)]),
      store.runs.append(lease, [mark(3)]),
      store.runs.append(lease, [mark(4)]),
    ]);
    const { last } = (await store.runs.find("ann", "r1"))!;
    expect(last).toBeGreaterThanOrEqual(2);
    expect(offsets(await store.runs.read(key, 0))).toEqual(numbers(last));
    expect(results[0]).toMatchObject({ status: "fulfilled" });
  });
});

describe.runIf(probe)("an end whose answer is late", () => {
  test("is no loss of the lease, though the database is asked meanwhile", async () => {
    const server = await startServer();
    const pool = await server.pg();
    let looks = 0;
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        const result = await pool.query(text, values);
        if (text.includes(".look(")) looks++;
        if (!text.includes(".close_run(")) return result;
        // Each other run of this process makes it look.
        const before = looks;
        await until(() => looks > before + 2);
        return result;
      },
    };
    const store = openStore({ client, schema: await server.schema(), listen: false });
    const other = await open(store.runs, { ...thread, threadId: "t2", runId: "r2" });
    const lease = await open(store.runs, key);
    await store.runs.append(lease, [mark(1)]);
    await store.runs.close(lease, ending(2), "finished");
    expect([isLost(lease), isLost(other)]).toEqual([false, false]);
  });
});

describe.runIf(probe)("a standby that is promoted", () => {
  test("takes over with everything that it has received", async () => {
    const server = await startServer(["-c", "wal_level=replica", "-c", "max_wal_senders=4"]);
    const standby = await startStandby(server);
    onEnd(() => standby.stop());
    const schema = await server.schema();
    const before = openStore({ client: await server.pg(), schema });
    await before.create(thread, { agentId: "a" });
    const lease = await open(before.runs, key);
    for (const offset of numbers(10)) await before.runs.append(lease, [mark(offset)]);
    await before.update(thread, { state: "kept" }, { lease });
    await standby.caughtUp();
    // It reads, and cannot write.
    const after = openStore({ client: await standby.pg(), schema, commandMs: 500 });
    expect(await after.get(thread)).toMatchObject({ state: "kept" });
    expect(await codeOf(() => after.touch(thread))).toBe("store-unavailable");
    await server.shutDown("immediate");
    // At the end it is there again: the store that used it has a server to leave, and waits for none.
    onEnd(() => server.start());
    await promoteStandby(standby);
    await until(async () => (await codeOf(() => after.touch(thread))) === undefined);
    expect(offsets(await after.runs.read(key, 0))).toEqual(numbers(10));
    // The fence holds there, too: another process may take the thread only when the lease is over.
    const next = await after.runs.open({ ...thread, runId: "r2" }, { agentId: "a" });
    expect(next).toMatchObject({ busy: { runId: "r1" } });
    await standby.sql(`UPDATE ${schema}.runs SET expires_at = 0`);
    await open(after.runs, { ...thread, runId: "r2" });
    expect(await after.runs.find("ann", "r1")).toMatchObject({ status: "lost", last: 11 });
  });
});

describe.runIf(probe)("a full disk", () => {
  test("refuses writes with a reason, harms nothing, and is over when there is room", async ({
    skip,
  }) => {
    const server = await startServer();
    const room = await server.smallDisk();
    if (!room) return skip("A file system of a few megabytes takes root.");
    const schema = await server.schema();
    await server.sql(`CREATE TABLESPACE small LOCATION '${room.path}'`);
    for (const table of ["entries", "messages"]) {
      await server.sql(`ALTER TABLE ${schema}.${table} SET TABLESPACE small`);
    }
    const store = openStore({ client: await server.pg(), schema });
    await store.create(thread, { agentId: "a" });
    const lease = await open(store.runs, key);
    // Text that does not compress.
    const noise = (): string =>
      Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2)).join("");
    let written = 0;
    let failure: unknown;
    while (failure === undefined) {
      try {
        await store.runs.append(lease, [mark(written + 1, noise())]);
        written++;
      } catch (error) {
        failure = error;
      }
    }
    expect(isAgentError(failure) && failure.code).toBe("store-unavailable");
    expect(String((failure as Error).cause)).toContain("No space left on device");
    expect(written).toBeGreaterThan(0);
    expect(offsets(await store.runs.read(key, 0))).toEqual(numbers(written));
    room.grow();
    await store.runs.append(lease, [mark(written + 1)]);
    await store.runs.close(lease, ending(written + 2), "finished");
    expect(offsets(await store.runs.read(key, 0))).toEqual(numbers(written + 2));
  });
});
