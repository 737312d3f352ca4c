import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { createClient } from "redis";
import { rateLimit } from "../src/index.ts";

const [redisPort, runs] = process.argv.slice(2).map(Number);
const client = createClient({ url: `redis://127.0.0.1:${redisPort}` });
client.on("error", () => undefined);
await client.connect();
const handler = createAgentHandler(async () => "Hello", {
  // On a busy machine late is not away.
  sessions: redisSessions({ client, commandMs: 20_000 }),
  // So slow to come back that nothing does while the test runs.
  middleware: [rateLimit({ runs: runs!, perMs: 24 * 60 * 60_000, by: "address" })],
  logger: silentLogger,
});
const { port } = await serve(handler, { port: 0 });
process.stdout.write(`${port}\n`);
