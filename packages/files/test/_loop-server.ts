import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import { extractFiles } from "../src/index.ts";
import { textOf } from "./_serve.ts";
import { createTurnMonitor } from "./_turn-monitor.ts";
import type { LoopAnswer, LoopQuestion } from "./_loop-options.ts";

const monitor = createTurnMonitor();
const handler = createAgentHandler(
  {
    // Says the end of what it was given, which only one who has read all pages knows.
    tail: async ({ messages }) => textOf(messages.at(-1)!).slice(-600),
  },
  {
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    files: extractFiles({ timeoutMs: 300_000 }),
    // Every short run has a session of its own.
    limits: { maxSessions: 1_000_000 },
  },
);
const server = await serve(handler, { port: 0 });

process.once("disconnect", () => void server.close());
process.on("message", answer);
say({ url: server.url });

function answer(question: LoopQuestion): void {
  switch (question) {
    case "begin":
      monitor.begin();
      return say("begun");
    case "end":
      return say(monitor.end());
  }
}

function say(word: LoopAnswer): void {
  process.send!(word);
}
