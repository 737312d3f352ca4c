// A server whose agent has said everything and is still at work when its process is stopped, or stops its loop.
import { existsSync } from "node:fs";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { createInterface } from "node:readline";
import type { RunAgentInput } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { createAgentHandler } from "../src/index.ts";
import { openChildStore } from "./_child-store.ts";

const [kind = "", place = "", lease, flag = ""] = process.argv.slice(2);
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

const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  sessions: await openChildStore(kind, place, { leaseMs }),
  history: "server",
  limits: { appendMs: 20_000 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
const { port } = await serve(handler, { port: 0 });
process.stdout.write(`${port}\n`);
