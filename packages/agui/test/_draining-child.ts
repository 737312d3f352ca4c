// A server with runs that end when they are allowed to ("short"), or never ("long").
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { RunAgentInput, RunContext } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { createAgentHandler } from "../src/index.ts";
import { openChildStore } from "./_child-store.ts";

const [kind = "", place = "", options = "{}"] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const go = once(lines, "line");
process.stdin.unref?.();

async function* agent({ runId }: RunAgentInput, { signal }: RunContext): AsyncGenerator {
  yield "begun ";
  const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await (runId.startsWith("short") ? go : stopped);
  yield "ended";
}

const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  sessions: await openChildStore(kind, place),
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
handler.on("state", (state) => void process.stdout.write(`${state}\n`));
const { port } = await serve(handler, { port: 0, ...(JSON.parse(options) as object) });
process.stdout.write(`port ${port}\n`);
handler.on("state", (state) => {
  if (state === "stopped") process.stdout.write(`${"last words ".repeat(50_000)}over\n`);
});
