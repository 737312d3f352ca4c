import { setTimeout as pause } from "node:timers/promises";
import type { RunAgentInput, RunContext, SessionStore } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { createClient } from "redis";
import { openPool } from "../../sessions/test/_postgres-pool.ts";
import { createAgentHandler } from "../src/index.ts";
import { brief, endless, pieceCount, pieceOf } from "./_fleet-agent.ts";

const [store, ...numbers] = process.argv.slice(2);
const [storePort, leaseMs, paceMs] = numbers.map(Number);

async function* agent({ runId }: RunAgentInput, { signal }: RunContext): AsyncGenerator {
  if (runId.startsWith(brief)) return yield "here";
  yield { type: "CUSTOM", name: "owner", value: process.pid };
  for (let index = 0; index < pieceCount; index++) {
    yield { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: pieceOf(runId, index) };
    if (index % 10 === 9) await pause(paceMs);
    if (runId.startsWith(endless) && index === pieceCount / 2 - 0.5) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  }
}

// On a busy machine late is not away: only a process that was killed may lose its runs.
const patient = { leaseMs: leaseMs!, commandMs: 10_000 };

async function openStore(): Promise<SessionStore> {
  if (store === "postgres") {
    const pool = openPool(storePort!);
    return postgresSessions({ client: pool, ...patient });
  }
  const client = createClient({ url: `redis://127.0.0.1:${storePort}` });
  client.on("error", () => undefined);
  await client.connect();
  return redisSessions({ client, ...patient });
}

const note = (fields: object, message?: string): void => {
  process.stderr.write(`${process.pid} ${message} ${JSON.stringify(fields)}\n`);
};
const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  sessions: await openStore(),
  limits: { appendMs: 20_000 },
  onDisconnect: { graceMs: 30_000 },
  logger: { debug: silent, info: silent, warn: silent, error: note },
});
const { port } = await serve(handler, { port: 0 });
process.stdout.write(`${port}\n`);
