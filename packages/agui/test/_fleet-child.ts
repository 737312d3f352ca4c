import { setTimeout as pause } from "node:timers/promises";
import type { RunAgentInput, RunContext } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { createClient } from "redis";
import { createAgentHandler } from "../src/index.ts";
import { brief, endless, pieceCount, pieceOf } from "./_fleet-agent.ts";

const [redisPort, leaseMs, paceMs] = process.argv.slice(2).map(Number);

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

const client = createClient({ url: `redis://127.0.0.1:${redisPort}` });
client.on("error", () => undefined);
await client.connect();
const note = (fields: object, message?: string): void => {
  process.stderr.write(`${process.pid} ${message} ${JSON.stringify(fields)}\n`);
};
const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  // On a busy machine late is not away: only a process that was killed may lose its runs.
  sessions: redisSessions({ client, leaseMs: leaseMs!, commandMs: 10_000 }),
  limits: { appendMs: 20_000 },
  onDisconnect: { graceMs: 30_000 },
  logger: { debug: silent, info: silent, warn: silent, error: note },
});
const { port } = await serve(handler, { port: 0 });
process.stdout.write(`${port}\n`);
