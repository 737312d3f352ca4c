import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isAgentError } from "@holodeck/agui-core";
import type { Lease, SessionStore } from "@holodeck/agui-core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sqliteSessions } from "../src/sqlite/index.ts";
import { createDatabase } from "../src/sqlite/database.ts";
import { loadSqlite } from "../src/sqlite/load-sqlite.ts";
import type { SqliteConnection } from "../src/sqlite/load-sqlite.ts";
import { applicationId, migrate, migrations } from "../src/sqlite/schema.ts";
import { manualClock } from "./_clock.ts";
import { isLost } from "./_is-lost.ts";
import { ending, mark } from "./_sqlite-entries.ts";

const key = { principal: "ann", threadId: "t1" };
// The very library the store uses: two on one file in one process would undo each other's locks.
const { DatabaseSync } = await loadSqlite();
let folder = "";
let path = "";
let stores: SessionStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agui-sqlite-"));
  path = join(folder, "agui.db");
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(options: object = {}): SessionStore {
  const store = sqliteSessions({ path, ...options });
  stores.push(store);
  return store;
}

function raw(work: (database: SqliteConnection) => void): void {
  const database = new DatabaseSync(path);
  work(database);
  database.close();
}

const count = (table: string): number => {
  let rows = 0;
  raw((database) => {
    const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
    rows = (row as { n: number }).n;
  });
  return rows;
};

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no failure",
    (error: unknown) => (isAgentError(error) ? `${error.code}: ${error.message}` : error),
  );

describe("sqliteSessions", () => {
  test("finds everything again after a restart", async () => {
    const first = open();
    await first.create(key, { agentId: "a", metadata: { title: "Weather" } });
    const messages = [{ id: "1", role: "user" as const, content: "hi" }];
    const before = await first.update(key, { append: messages, state: { n: 1 }, lastRunId: "r" });
    await first.close();
    expect(await open().get(key)).toEqual(before);
  });

  test("touches no file before its first use, and then one that only its owner may read", async () => {
    const store = open();
    expect(() => statSync(path)).toThrow("ENOENT");
    await store.get(key);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test("takes a URL for a path", async () => {
    await open({ path: pathToFileURL(path) }).create(key, { agentId: "a" });
    expect(await open().get(key)).toMatchObject(key);
  });

  test.for(["", ":memory:"])("refuses %j, which would vanish with the process", (nowhere) => {
    expect(() => sqliteSessions({ path: nowhere })).toThrow("needs a file path");
  });

  test("keeps ids apart that SQLite's text would take for one", async () => {
    const store = open();
    const ids = ["a", "a\0", "a\0b", "a\ud800", "a\ud801", "a\ufffd", "a\\u0000", 'a"', "a\\"];
    for (const id of ids) {
      await store.create({ principal: id, threadId: id }, { agentId: id.replace("\0", "0") });
    }
    for (const id of ids) {
      const found = await store.get({ principal: id, threadId: id });
      expect(found).toMatchObject({ principal: id, threadId: id });
      const { items } = await store.list({ principal: id, limit: 10 });
      expect(items).toMatchObject([{ principal: id, threadId: id, agentId: found!.agentId }]);
    }
  });

  test("reports that a store which was closed is closed", async () => {
    const store = open();
    await store.get(key);
    await store.close();
    expect(await failure(store.get(key) as Promise<unknown>)).toBe(
      "store-unavailable: The session database is closed.",
    );
  });

  test("gives up its leases when it is closed, so that a restart need not wait", async () => {
    const first = open();
    const lease = (await first.runs.open({ ...key, runId: "r" }, { agentId: "a" })) as Lease;
    await first.close();
    expect(isLost(lease)).toBe(true);
    expect(await open().runs.find("ann", "r")).toMatchObject({ status: "lost" });
  });

  test("removes what has expired from the file, with all that belongs to it", async () => {
    const clock = manualClock();
    const store = open({ clock, ttlMs: 10_000, runLogMs: 5_000 });
    await store.create(key, { agentId: "a" });
    await store.update(key, { append: [{ id: "1", role: "user", content: "hi" }] });
    const lease = await store.runs.open({ ...key, runId: "r" }, { agentId: "a" });
    if ("busy" in lease) throw new Error("busy");
    await store.runs.append(lease, [mark(1)]);
    await store.runs.close(lease, ending(2, lease), "finished");
    await store.take("bucket", 1, { tokens: 2, perMs: 1_000 });
    expect(["sessions", "messages", "runs", "entries", "buckets"].map(count)).toEqual([
      1, 1, 1, 2, 1,
    ]);
    clock.advance(60_000);
    expect(["sessions", "messages", "runs", "entries", "buckets"].map(count)).toEqual([
      0, 0, 0, 0, 0,
    ]);
  });

  test("keeps the order of a history that grows, is pruned, replaced and changed", async () => {
    const store = open({ maxMessagesPerThread: 4 });
    await store.create(key, { agentId: "a" });
    const message = (id: string, content = id): any => ({ id, role: "user", content });
    const changes: [object, string][] = [
      [{ append: ["1", "2", "3"].map((id) => message(id)) }, "1 2 3"],
      [{ append: [message("2", "two"), message("4")] }, "1 two 3 4"],
      [{ append: [message("5"), message("6")] }, "3 4 5 6"],
      [{ messages: ["6", "3"].map((id) => message(id)), append: [message("7")] }, "6 3 7"],
      [{ messages: ["9", "3", "7", "7"].map((id) => message(id)) }, "9 3 7 7"],
      [{ messages: [] }, ""],
      [{ append: [message("1")] }, "1"],
    ];
    for (const [change, expected] of changes) {
      const updated = await store.update(key, change);
      const stored = (await store.get(key))!;
      expect(stored.messages.map(({ content }) => content as string).join(" ")).toBe(expected);
      expect(stored).toEqual(updated);
    }
  });
});

describe("opening the file", () => {
  test.for<[string, () => void, string]>([
    ["a folder", () => mkdirSync(path), "The session database is a directory."],
    [
      "a file that is no database",
      () => writeFileSync(path, "This is a letter, not a database. ".repeat(200)),
      "The session database is not a SQLite database, or is damaged.",
    ],
    [
      "a path in a folder that is not there",
      () => (path = join(folder, "data", "agui.db")),
      "The session database is in a folder that does not exist.",
    ],
    [
      "another program's database",
      () => raw((database) => database.exec("CREATE TABLE theirs (a)")),
      "The database belongs to another program.",
    ],
    [
      "another program's version",
      () => raw((database) => database.exec("PRAGMA user_version = 1")),
      "The database belongs to another program.",
    ],
    [
      "a newer version",
      () =>
        raw((database) =>
          database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1000`),
        ),
      `The session database has version 1000; this release supports up to ${migrations.length}.`,
    ],
  ])("refuses %s in so many words", async ([, prepare, message]) => {
    prepare();
    const outcome = await failure(open().get(key) as Promise<unknown>);
    expect(outcome).toBe(`store-unavailable: ${message}`);
    expect(outcome).not.toContain(folder);
  });

  test("leaves another program's database as it was", async () => {
    raw((database) => database.exec("CREATE TABLE theirs (a)"));
    const before = readFileSync(path);
    await failure(open().get(key) as Promise<unknown>);
    expect(readFileSync(path)).toEqual(before);
  });

  test("names the file to the host, and tries again at the next call", async () => {
    mkdirSync(path);
    const store = open();
    const error = await (store.get(key) as Promise<unknown>).catch((reason: unknown) => reason);
    expect((error as Error).cause).toMatchObject({ message: `${path} is a directory.` });
    rmSync(path, { recursive: true });
    expect(await store.get(key)).toBeUndefined();
  });

  test("is opened with Node's own SQLite where there is one, and else with the package", async () => {
    const [own, other] = [{ DatabaseSync }, { DatabaseSync }];
    const peer = vi.fn<() => Promise<typeof other>>(async () => other);
    expect(await loadSqlite({ builtin: () => own, peer })).toBe(own);
    expect(peer).not.toHaveBeenCalled();
    expect(await loadSqlite({ builtin: () => undefined, peer })).toBe(other);
  });

  test("names what to install where there is no SQLite", async () => {
    const load = loadSqlite({
      builtin: () => undefined,
      peer: () => Promise.reject(new Error("Cannot find package")),
    });
    expect(await failure(load)).toBe(
      "store-unavailable: sqliteSessions needs Node 22.13 or newer, or the package @photostructure/sqlite next to it.",
    );
  });

  test("takes a file of version 1 and all that is in it", async () => {
    raw((database) => {
      database.exec(migrations[0]!);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1`);
      database.exec(
        `INSERT INTO sessions (principal, thread_id, agent_id, version, created_at, last_activity,
           message_count, metadata, pending, state)
         VALUES ('ann', 't1', 'a', 3, 1, ${Date.now()}, 1, '{"a":1}', '[]', '{"s":[1]}')`,
      );
    });
    const store = open();
    const { items } = await store.list({ principal: "ann", limit: 10 });
    expect(items).toMatchObject([{ ...key, version: 3, messageCount: 1 }]);
    expect(await store.get(key)).toMatchObject({
      version: 3,
      metadata: { a: 1 },
      state: { s: [1] },
    });
    const run = { runId: "r1", request: "1" };
    const messages = [1, 2, 3].map((index) => ({
      id: `m${index}`,
      role: "user" as const,
      content: "",
    }));
    await store.update(key, { run, historyOwner: "client", messages, maxMessages: 2 });
    expect(await store.get(key)).toMatchObject({
      historyOwner: "client",
      pastRuns: [run],
      pruned: { count: 1, lastId: "m1" },
    });
  });

  test("applies each step of a migration once, in order, or none of them", () => {
    const db = createDatabase(new DatabaseSync(path));
    const columns = (): unknown[] => db.sql("SELECT name FROM pragma_table_info('t')").all();
    migrate(db, ["CREATE TABLE t (a)"]);
    migrate(db, ["CREATE TABLE t (a)"]);
    const steps = ["CREATE TABLE t (a)", "ALTER TABLE t ADD b", "ALTER TABLE t ADD c"];
    expect(() => migrate(db, [...steps, "ALTER TABLE missing ADD d"])).toThrow();
    expect(columns()).toEqual([{ name: "a" }]);
    migrate(db, steps);
    expect(columns()).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }]);
    db.close();
  });
});
