/** A server process whose refunds never end: the parent kills it in the middle of them. */
import { appendFileSync, writeSync } from "node:fs";
import { serve } from "@holodeck/agui-node";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { createClient } from "redis";
import { createAgentHandler } from "../src/index.ts";
import { createRefunding } from "./_refunds.ts";

const [kind, place, ledger, leaseMs, ...cases] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  ...string[],
];

async function openStore() {
  if (kind === "SQLite") return sqliteSessions({ path: place, leaseMs: Number(leaseMs) });
  const client = createClient({ url: place });
  client.on("error", () => undefined);
  await client.connect();
  return redisSessions({ client, leaseMs: Number(leaseMs), commandMs: 10_000 });
}

const sessions = await openStore();
const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const urls: string[] = [];
for (const one of cases) {
  const { form, history, threadId } = JSON.parse(one);
  const { agent, tools } = createRefunding(form, {
    onRun() {
      appendFileSync(ledger, `${threadId}\n`);
      writeSync(1, "refunding\n");
      return new Promise(() => {});
    },
  });
  const handler = createAgentHandler(agent, { sessions, history, tools: [...tools], logger });
  urls.push((await serve(handler, { port: 0, signals: false })).url);
}
writeSync(1, `${JSON.stringify(urls)}\n`);
