// A server with a small heap. Prints its port and how long it works to parse a plain body, and at the end of its input
// how long its event loop was at work in one turn at most: times of its main thread, whatever else the machine does.
import { serve } from "@holodeck/agui-node";
import { createTurnMonitor } from "../../files/test/_turn-monitor.ts";
import { allowAnonymous, createAgentHandler } from "../src/index.ts";
import { openChildStore } from "./_child-store.ts";

const [kind = "", place = "", bodyBytes = "0"] = process.argv.slice(2);

const monitor = createTurnMonitor();

function parseMs(): number {
  const text = JSON.stringify({ a: "x".repeat(Number(bodyBytes)) });
  const bytes = Buffer.from(text);
  monitor.begin();
  JSON.parse(new TextDecoder().decode(bytes));
  return monitor.end().loopMs;
}

const silent = (): void => undefined;
const handler = createAgentHandler(async () => "ok", {
  sessions: await openChildStore(kind, place, { commandMs: 60_000, leaseMs: 120_000 }),
  authenticate: allowAnonymous(),
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
const plain = Math.max(parseMs(), parseMs(), parseMs());
const { port } = await serve(handler, { port: 0 });
monitor.begin();
process.stdout.write(`${JSON.stringify({ port, plain })}\n`);
process.stdin.resume();
process.stdin.on("end", () => {
  process.stdout.write(`${JSON.stringify({ lag: monitor.end().longestMs })}\n`);
  process.exit(0);
});
