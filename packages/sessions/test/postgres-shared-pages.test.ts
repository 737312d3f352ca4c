import { describe, expect, test } from "vitest";
import type { PgPool } from "../src/postgres/index.ts";
import { startPostgres } from "./_postgres.ts";
import { createPostgresBench } from "./_postgres-bench.ts";
import { ending, follow, mark, offsets, open } from "./_redis-runs.ts";

const suite = "followers of postgresSessions that read together";
const probe = await startPostgres(suite);
await probe?.stop();
const key = { principal: "ann", threadId: "t1", runId: "r1" };

const { startServer, openStore } = createPostgresBench(suite);

describe.runIf(probe)("a follower at the place of another one", () => {
  test("receives the end of the run when the other's answer is older than it", async () => {
    const server = await startServer();
    const schema = await server.schema();
    const leaseMs = 300_000;
    const owner = openStore({ client: await server.pg(), schema, leaseMs });
    const pool = await server.pg();
    let looks = 0;
    let watches = 0;
    let held = 0;
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const client: PgPool = {
      options: { max: 8 },
      connect: () => pool.connect(),
      async query(text, values) {
        const result = await pool.query(text, values);
        if (text.includes(".look(")) looks++;
        if (text.includes(".watch(")) watches++;
        // Answered by the server before the end, and here after it.
        if (text.includes(".read_page(") && held++ === 0) await released;
        return result;
      },
    };
    const other = openStore({ client, schema, leaseMs, commandMs: 60_000 });
    await owner.create(key, { agentId: "a" });
    const lease = await open(owner.runs, key);
    await owner.runs.append(lease, [mark(1)]);

    const first = follow(other.runs, key, 1);
    await expect.poll(() => held).toBe(1);
    await owner.runs.close(lease, ending(2), "finished");
    // The second look began after the end: it has shown it to the other process.
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThan(before + 1);
    const second = follow(other.runs, key, 1);
    await expect.poll(() => watches).toBe(2);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all([first.ended, second.ended]);
    expect([first, second].map(({ entries }) => offsets(entries))).toEqual([[2], [2]]);
  });
});
