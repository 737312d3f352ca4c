/** One process of several on one database file; the parent says which part it plays. */
import { writeSync } from "node:fs";
import type { Lease, RunLog } from "@holodeck/agui-core";
import { sqliteSessions } from "../src/sqlite/index.ts";
import { loadSqlite } from "../src/sqlite/load-sqlite.ts";
import { delta, ending, mark } from "./_sqlite-entries.ts";

const [part, path, name = ""] = process.argv.slice(2) as [string, string, string?];
const store = sqliteSessions({ path });
const { runs } = store;

// Straight into the pipe: what was said is said, also when the next thing is SIGKILL. A pipe that is full,
// because whoever reads it has no turn just now, takes the line later.
function say(line: unknown): void {
  for (;;) {
    try {
      writeSync(1, `${JSON.stringify(line)}\n`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

const parts: Record<string, () => Promise<void>> = {
  /** Appends to three runs at once for ever, and says every offset that was acknowledged. */
  async append() {
    await Promise.all(
      [0, 1, 2].map(async (number) => {
        const lease = await open(runs, `${name}-${number}`);
        for (let offset = 1; ; offset += 3) {
          const batch = [delta(offset), delta(offset + 1), mark(offset + 2)];
          await runs.append(lease, batch);
          say([lease.runId, offset + 2]);
        }
      }),
    );
  },
  /** Plays twenty runs of fifty entries at once, each with a session. */
  async write() {
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const lease = await open(runs, `${name}-${number}`);
        await store.create(lease, { agentId: "agent" });
        for (let offset = 1; offset <= 50; offset++) await runs.append(lease, [delta(offset)]);
        await store.update(lease, { state: { by: name, number }, lastRunId: lease.runId });
        await runs.close(lease, ending(51, lease), "finished");
      }),
    );
    say("done");
    await store.close();
  },
  /** Owns a run until it is told to stop. */
  async own() {
    const lease = await open(runs, name);
    await runs.append(lease, [mark(1)]);
    const stopped = new Promise<void>((resolve) => {
      runs.commands(lease, ({ type }) => {
        if (type === "stop") resolve();
      });
    });
    // The store's own timers keep no process alive.
    const alive = setInterval(() => {}, 60_000);
    say("owned");
    await stopped;
    await runs.append(lease, [mark(2)]);
    await runs.close(lease, ending(3, lease), "cancelled");
    clearInterval(alive);
    await store.close();
  },
  /** Says how opening the file went, as somebody who may not write everything. */
  async open() {
    // Loaded first: what it is made of may be root's alone.
    await loadSqlite();
    if (process.getuid?.() === 0) process.setuid!(65_534);
    try {
      await store.get({ principal: "", threadId: "t" });
      say("opened");
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      say({ code, message });
    }
  },
};

await parts[part]!();

async function open(log: RunLog, id: string): Promise<Lease> {
  const lease = await log.open({ principal: "", threadId: `t-${id}`, runId: id }, { agentId: "a" });
  if ("busy" in lease) throw new Error(`"${id}" is busy.`);
  return lease;
}
