// A server with a small heap. Prints its port and how long it takes to parse a plain body, and at the end of its input
// how long its event loop stood still at most.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { serve } from "@holodeck/agui-node";
import { allowAnonymous, createAgentHandler } from "../src/index.ts";
import { openChildStore } from "./_child-store.ts";

const [kind = "", place = "", bodyBytes = "0"] = process.argv.slice(2);

function parseMs(): number {
  const text = JSON.stringify({ a: "x".repeat(Number(bodyBytes)) });
  const bytes = Buffer.from(text);
  const begun = performance.now();
  JSON.parse(new TextDecoder().decode(bytes));
  return performance.now() - begun;
}

const silent = (): void => undefined;
const handler = createAgentHandler(async () => "ok", {
  sessions: await openChildStore(kind, place, { commandMs: 60_000, leaseMs: 120_000 }),
  authenticate: allowAnonymous(),
  logger: { debug: silent, info: silent, warn: silent, error: silent },
});
const plain = Math.max(parseMs(), parseMs(), parseMs());
const delay = monitorEventLoopDelay({ resolution: 20 });
const { port } = await serve(handler, { port: 0 });
delay.enable();
process.stdout.write(`${JSON.stringify({ port, plain })}\n`);
process.stdin.resume();
process.stdin.on("end", () => {
  process.stdout.write(`${JSON.stringify({ lag: delay.max / 1e6 })}\n`);
  process.exit(0);
});
