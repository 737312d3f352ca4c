import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemClock } from "@holodeck/agui-core";
import type { LogEntry, SessionStore } from "@holodeck/agui-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sqliteSessions } from "../src/sqlite/index.ts";
import { loadSqlite } from "../src/sqlite/load-sqlite.ts";
import { delta, ending, mark } from "./_sqlite-entries.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

let folder = "";
let path = "";
let stores: SessionStore[] = [];
let children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agui-sqlite-"));
  path = join(folder, "agui.db");
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (aheadMs = 0): SessionStore => {
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const store = sqliteSessions({ path, clock });
  stores.push(store);
  return store;
};

interface Child {
  /** What it says, line by line. */
  readonly lines: AsyncIterableIterator<unknown>;
  readonly exit: Promise<number | null>;
  kill(): Promise<unknown>;
}

function start(part: string, name = ""): Child {
  const script = fileURLToPath(new URL("_sqlite-child.ts", import.meta.url));
  const child = spawn(process.execPath, [...sourceFlags, script, part, path, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  // At once: what a process has said when it exits is thrown away if nobody listens yet.
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function* parse(): AsyncIterableIterator<unknown> {
    for await (const line of lines) yield JSON.parse(line);
  }
  return {
    lines: parse(),
    exit,
    kill: () => (child.kill("SIGKILL"), exit),
  };
}

async function readAll(store: SessionStore, runId: string): Promise<LogEntry[]> {
  const key = { principal: "", threadId: `t-${runId}`, runId };
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.runs.read(key, all.at(-1)?.to ?? 0, 500);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe("sqliteSessions in several processes", { timeout: 300_000 }, () => {
  test("loses nothing that was acknowledged when its process is killed, ten times", async () => {
    const figures: number[] = [];
    for (let kill = 0; kill < 10; kill++) {
      const child = start("append", `k${kill}`);
      const acknowledged = new Map<string, number>();
      let lines = 0;
      for await (const line of child.lines) {
        const [runId, offset] = line as [string, number];
        acknowledged.set(runId, offset);
        // At another moment each time, in the middle of whatever it is doing; then what it had still said.
        if (++lines === 100 + kill * 37) void child.kill();
      }
      await child.exit;
      expect(acknowledged.size).toBe(3);
      const store = open();
      for (const [runId, offset] of acknowledged) {
        const entries = await readAll(store, runId);
        const { last } = (await store.runs.find("", runId))!;
        expect(last).toBeGreaterThanOrEqual(offset);
        expect(last % 3).toBe(0);
        let text = "";
        let next = 1;
        for (const { from, to, event } of entries) {
          expect(from).toBe(next);
          next = to + 1;
          text += (event.delta as string | undefined) ?? "| ";
        }
        expect(next).toBe(last + 1);
        const said = Array.from({ length: last }, (_, at) => ((at + 1) % 3 ? `${at + 1} ` : "| "));
        expect(text).toBe(said.join(""));
        figures.push(offset);
      }
      await store.close();
    }
    expect(figures).toHaveLength(30);
  });

  test("frees the thread of a killed process once its lease is over", async () => {
    const child = start("own", "r");
    await child.lines.next();
    await child.kill();
    const key = { principal: "", threadId: "t-r", runId: "r" };
    const store = open();
    expect(await store.runs.active(key)).toMatchObject({ runId: "r", status: "running" });
    const later = open(16_000);
    const seen: LogEntry[] = [];
    for await (const batch of later.runs.follow(key, 0, new AbortController().signal)) {
      seen.push(...batch);
    }
    expect(seen.map(({ event }) => event.code ?? event.type)).toEqual(["CUSTOM", "run-lost"]);
    expect(await store.runs.find("", "r")).toMatchObject({ status: "lost", last: 2 });
    expect(await store.runs.open({ ...key, runId: "next" }, { agentId: "a" })).toHaveProperty(
      "fence",
    );
  });

  test("lets four processes make one file and write to it at once", async () => {
    const names = ["a", "b", "c", "d"];
    const started = names.map((name) => start("write", name));
    for (const child of started) expect((await child.lines.next()).value).toBe("done");
    for (const child of started) expect(await child.exit).toBe(0);
    const store = open();
    const { items } = await store.list({ principal: "", limit: 100 });
    expect(items).toHaveLength(80);
    const text = Array.from({ length: 50 }, (_, at) => `${at + 1} `).join("");
    for (const name of names) {
      for (let number = 0; number < 20; number++) {
        const entries = await readAll(store, `${name}-${number}`);
        expect(entries.map(({ event }) => (event.delta as string | undefined) ?? "").join("")).toBe(
          text,
        );
        expect(entries.at(-1)).toMatchObject({ from: 51, event: { type: "RUN_FINISHED" } });
        const key = { principal: "", threadId: `t-${name}-${number}` };
        expect((await store.get(key))?.state).toEqual({ by: name, number });
      }
    }
    const { DatabaseSync } = await loadSqlite();
    const raw = new DatabaseSync(path);
    expect(raw.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    raw.close();
  });

  test("shows a run of another process as it goes on, and stops it", async () => {
    const child = start("own", "r");
    await child.lines.next();
    const store = open();
    const key = { principal: "", threadId: "t-r", runId: "r" };
    const seen: string[] = [];
    for await (const batch of store.runs.follow(key, 0, new AbortController().signal)) {
      if (seen.length === 0) expect(await store.runs.requestStop(key)).toBe(true);
      seen.push(...batch.map(({ event }) => event.type));
    }
    expect(seen).toEqual(["CUSTOM", "CUSTOM", "RUN_FINISHED"]);
    expect(await child.exit).toBe(0);
    expect(await store.runs.find("", "r")).toMatchObject({ status: "cancelled", last: 3 });
  });

  test.skipIf(process.platform === "win32")("reports that a file cannot be written", async () => {
    await open().get({ principal: "", threadId: "t" });
    await stores.pop()!.close();
    chmodSync(folder, 0o777);
    chmodSync(path, 0o444);
    const child = start("open");
    expect((await child.lines.next()).value).toEqual({
      code: "store-unavailable",
      message: "The session database cannot be written.",
    });
    chmodSync(folder, 0o755);
  });
});

describe("a group of appends", () => {
  test("keeps the others when one of them is refused", async () => {
    const { runs } = open();
    const lease = async (runId: string): Promise<any> =>
      runs.open({ principal: "", threadId: `t-${runId}`, runId }, { agentId: "a" });
    const [one, two, three] = [await lease("1"), await lease("2"), await lease("3")];
    const outcomes = await Promise.allSettled([
      runs.append(one, [delta(1), delta(2)]),
      runs.append(two, [mark(7)]),
      runs.append(three, [mark(1)]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await runs.read(one, 1)).toMatchObject([{ from: 2, to: 2, event: { delta: "2 " } }]);
    expect(await runs.read(two, 0)).toEqual([]);
    await runs.close(three, ending(2, three), "finished");
    expect(await runs.read(three, 0)).toHaveLength(2);
  });
});
