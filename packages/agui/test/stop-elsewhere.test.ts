import { describe, expect, test } from "vitest";
import { parseSse } from "./_helpers.ts";
import { openPlace, startRun, startServer } from "./_dated-server.ts";

const timeout = 90_000;
// The second is measured in heartbeats of the process that has the run, so a busy machine delays both.
const handler = { heartbeatMs: 500 };
const heartbeat = "\n:";

describe.for(["SQLite", "node-redis", "ioredis", "PostgreSQL"])(
  "with %s, a stop that another process receives",
  { timeout },
  (kind) => {
    test("reaches the run within a second", async ({ skip }) => {
      const place = await openPlace(kind);
      if (!place) return skip();
      const [owner, other] = await Promise.all([
        startServer(place, { handler }),
        startServer(place, { handler }),
      ]);
      for (let round = 0; round < 3; round++) {
        // Several at once: a process that is reading has to notice those that are added.
        const names = Array.from({ length: 4 }, (_, index) => `r${round}-${index}`);
        const readers = await Promise.all(names.map((name) => startRun(owner, name)));
        for (const [index, reader] of readers.entries()) {
          const before = reader.text.length;
          const url = `${other.url}/agui/runs/${names[index]}/stop`;
          expect((await fetch(url, { method: "POST" })).ok).toBe(true);
          const text = await reader.rest();
          expect(parseSse(text).at(-1)).toMatchObject({
            type: "RUN_FINISHED",
            outcome: { type: "cancelled" },
          });
          const heartbeats = text.slice(before).split(heartbeat).length - 1;
          expect(heartbeats).toBeLessThanOrEqual(2);
        }
      }
    });
  },
);
