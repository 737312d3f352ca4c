/** A server process whose refunds never end: the parent kills it in the middle of them. */
import { appendFileSync, writeSync } from "node:fs";
import { serve } from "@holodeck/agui-node";
import { createAgentHandler } from "../src/index.ts";
import { openChildStore } from "./_child-store.ts";
import { createRefunding } from "./_refunds.ts";

const [kind, place, ledger, leaseMs, ...cases] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  ...string[],
];

const sessions = await openChildStore(kind, place, { leaseMs: Number(leaseMs) });
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
