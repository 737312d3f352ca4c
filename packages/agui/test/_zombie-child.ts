// A server whose agent has said everything and is still at work when its process is stopped, or stops its loop.
import { existsSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { createInterface } from "node:readline";
import type { RunAgentInput } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { createClient } from "redis";
import { createAgentHandler } from "../src/index.ts";

const [kind, place = "", lease, flag = ""] = process.argv.slice(2);
const leaseMs = Number(lease);
const lines = createInterface({ input: process.stdin });

async function* agent({ runId }: RunAgentInput): AsyncGenerator {
  // Nothing is left to be closed, and so nothing is appended before the end is stored.
  yield { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" };
  yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `old answer of ${runId}` };
  yield { type: "TEXT_MESSAGE_END", messageId: "m" };
  yield { type: "CUSTOM", name: "working", value: 1 };
  let isBlocked = false;
  void once(lines, "line").then(() => (isBlocked = true));
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  // Timers come first when a stopped process goes on: the run ends before anything else is noticed.
  while (!existsSync(flag)) {
    if (isBlocked) Atomics.wait(sleeper, 0, 0, 10);
    else await pause(10);
  }
}

async function open() {
  if (kind === "SQLite") return sqliteSessions({ path: place, leaseMs });
  const client = createClient({ url: `redis://127.0.0.1:${place}` });
  client.on("error", () => undefined);
  await client.connect();
  return redisSessions({ client, leaseMs, commandMs: 10_000 });
}

const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  sessions: await open(),
  history: "server",
  limits: { appendMs: 20_000 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
const { port } = await serve(handler, { port: 0 });
process.stdout.write(`${port}\n`);
