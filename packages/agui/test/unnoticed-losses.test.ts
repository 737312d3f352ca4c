import { setTimeout as pass } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openPlace, read, startRun, startServer } from "./_dated-server.ts";
import type { DatedServer } from "./_dated-server.ts";

const timeout = 120_000;
const patience = { timeout: 40_000, interval: 100 };
const times = { leaseMs: 1_000, runLogMs: 1_000 };

const headers = { "content-type": "application/json" };
const json = (body: object): RequestInit => ({
  method: "POST",
  headers,
  body: JSON.stringify(body),
});

/** What a client of another process does first, long after the process of the run has died; each in its own thread. */
const ways: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  stop: (url) => fetch(`${url}/agui/runs/stop/stop`, json({})),
  useChat: (url) => fetch(`${url}/chat/t-useChat/stream`),
  connect: async (url) => {
    const body = json({ threadId: "t-connect", runId: "c" });
    return (await fetch(`${url}/agui/agent/default/connect`, body)).text();
  },
  messages: (url) => fetch(`${url}/agui/threads/t-messages/messages`),
  events: async (url) => (await read(`${url}/agui/runs/events/events?offset=0`)).rest(),
  state: (url) => fetch(`${url}/agui/threads/t-state/state`),
  list: (url) => fetch(`${url}/agui/threads?agentId=default`),
};

async function recoveredBy(server: DatedServer, name: string): Promise<void> {
  const line = `warn t-${name}: An interrupted run was recovered.`;
  const ask = async (): Promise<string> => {
    await ways[name]!(server.url);
    return server.printed();
  };
  await expect.poll(ask, { ...patience, message: name }).toContain(line);
  const messages = await fetch(`${server.url}/agui/threads/t-${name}/messages`);
  expect(await messages.text(), name).toContain("begun");
  expect(server.printed().split(line), name).toHaveLength(2);
}

describe.for(["SQLite", "node-redis", "PostgreSQL"])(
  "with %s, what a run had sent when its process died",
  { timeout },
  (kind) => {
    test("is in its thread, however late and in whatever way the loss is noticed", async ({
      skip,
    }) => {
      const place = await openPlace(kind);
      if (!place) return skip();
      const [owner, other] = await Promise.all([
        startServer(place, times),
        startServer(place, times),
      ]);
      const names = [...Object.keys(ways), "next"];
      await Promise.all(names.map((name) => startRun(owner, name)));
      await owner.kill();
      // Longer than the log of a run that has ended is kept. The time is that of the database.
      await pass(times.leaseMs + times.runLogMs * 2);

      for (const name of Object.keys(ways)) await recoveredBy(other, name);
      const next = await fetch(
        `${other.url}/agui`,
        json({
          threadId: "t-next",
          runId: "n",
          messages: [{ id: "n", role: "user", content: "?" }],
        }),
      );
      other.send("go n");
      void next.body?.cancel().catch(() => undefined);
      const messages = await fetch(`${other.url}/agui/threads/t-next/messages`);
      expect(await messages.text()).toContain("begun");
    });
  },
);
