import { describe, expect, test } from "vitest";
import { parseSse } from "./_helpers.ts";
import { openPlace, read, startRun, startServer } from "./_dated-server.ts";
import type { DatedServer } from "./_dated-server.ts";

const timeout = 90_000;
const second = 1_000;
// Less than the date is set by, and more than a test takes.
const long = 300 * second;
const memory = { kind: "memory", at: "" };
const jumps = [-700, -30, 30, 700].map((seconds) => seconds * second);

// A comment of the event stream.
const heartbeat = "\n:";

const endOf = (text: string): unknown => parseSse(text).at(-1);
const finished = expect.objectContaining({ type: "RUN_FINISHED" });

async function attach({ url }: DatedServer, runId: string): ReturnType<typeof read> {
  return read(`${url}/agui/runs/${runId}/events?offset=0`);
}

describe("a date that is set while runs go on", { timeout }, () => {
  test("changes neither their heartbeats nor when they time out", async () => {
    const server = await startServer(memory, {
      handler: { heartbeatMs: 100, limits: { runTimeoutMs: long } },
    });
    for (const [index, ms] of jumps.entries()) {
      const run = `r${index}`;
      const reader = await startRun(server, run);
      await server.set(ms);
      await reader.until(heartbeat, 3);
      server.send(`go ${run}`);
      const text = await reader.rest();
      expect(endOf(text)).toEqual(finished);
      expect(text).toContain("ended");
    }
  });

  test("changes nothing of the grace that a run has without a client", async () => {
    const patient = { onDisconnect: { graceMs: long }, heartbeatMs: 100 };
    const server = await startServer(memory, { handler: patient });
    for (const [index, ms] of jumps.entries()) {
      const run = `r${index}`;
      const first = await startRun(server, run);
      first.leave();
      await server.set(ms);
      const again = await attach(server, run);
      // Some turns of everything that looks at the time.
      await again.until(heartbeat, 3);
      server.send(`go ${run}`);
      expect(endOf(await again.rest())).toEqual(finished);
    }
  });

  test("still ends a run that no client came back to, and one that takes too long", async () => {
    const handler = { onDisconnect: { graceMs: 200 }, limits: { runTimeoutMs: 2_000 } };
    const server = await startServer(memory, { handler });
    const runs = await Promise.all(["left", "slow"].map((run) => startRun(server, run)));
    await server.set(-700 * second);
    runs[0]!.leave();
    await server.until(/aborted left disconnected/);
    await server.set(-30 * second);
    expect(endOf(await runs[1]!.rest())).toMatchObject({ type: "RUN_ERROR", code: "timeout" });
  });
});

describe.for(["SQLite", "node-redis", "PostgreSQL"])(
  "a date that is set on a machine with two processes, with %s",
  { timeout },
  (kind) => {
    test("takes no run from a process that is alive, and locks no thread of one that died", async ({
      skip,
    }) => {
      const place = await openPlace(kind);
      if (!place) return skip();
      const options = { leaseMs: 5 * second, handler: { heartbeatMs: 100 } };
      const [owner, other] = await Promise.all([
        startServer(place, options),
        startServer(place, options),
      ]);
      for (const [index, ms] of jumps.entries()) {
        const name = `r${index}`;
        const run = await startRun(owner, name);
        await Promise.all([owner.set(ms), other.set(ms)]);
        // The other process looks at the lease, and goes on looking.
        const follower = await attach(other, name);
        const messages = await fetch(`${other.url}/agui/threads/t-${name}/messages`);
        expect(messages.status).toBe(200);
        await follower.until(heartbeat, 3);
        owner.send(`go ${name}`);
        expect(endOf(await run.rest())).toEqual(finished);
        expect(endOf(await follower.rest())).toEqual(finished);
      }

      await startRun(owner, "dead");
      await owner.kill();
      await other.set(-700 * second);
      const follower = await attach(other, "dead");
      expect(endOf(await follower.rest())).toMatchObject({ code: "run-lost" });
      const messages = await fetch(`${other.url}/agui/threads/t-dead/messages`);
      expect(await messages.text()).toContain("begun");
    });
  },
);
