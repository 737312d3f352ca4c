// The server that is soaked, in a process with `--expose-gc`. It answers its parent's questions by messages.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { AgentError, createAgentHandler } from "@holodeck/agui";
import type { ServerTool } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { extractFiles } from "@holodeck/agui-files";
import { serve } from "@holodeck/agui-node";
import { everyProtocol } from "../../packages/agui/test/_every-protocol.ts";

// Before there is a server; the channel to the parent is there already.
process.on("message", (question: string) => void answer(question));
const before = countResources();
let live = 0;
const leaked: string[] = [];

const pay = {
  name: "pay",
  description: "Pays an order of the user.",
  parameters: { type: "object" },
  needsApproval: true,
  invoke: async () => "Paid.",
} as unknown as ServerTool;

const handler = createAgentHandler(
  async function* ({ messages, tools }, { callTool, state, signal, emit }) {
    live++;
    try {
      const last = messages.findLast(({ role }) => role === "user")?.content;
      const words = typeof last === "string" ? last : "file";
      if (process.env.SOAK_LEAK) leaked.push(Buffer.alloc(200_000, 97).toString("latin1"));
      for (let part = 0; part < 20; part++) yield `part ${part} `;
      await state.set({
        words: words.slice(0, 100),
        list: Array.from({ length: 50 }, (_, at) => at),
      });
      if (words.includes("fail")) throw new Error("It failed.");
      if (words.includes("refuse")) throw new AgentError("soak/refused", "Refused.");
      if (words.includes("pay")) yield String(await callTool("pay", {}));
      if (words.includes("pick") && tools.length > 0) yield String(await callTool("pick", {}));
      if (words.includes("wait")) {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      }
      await emit.step("end", () => emit.reasoning("Done."));
    } finally {
      live--;
    }
  },
  {
    logger: silentLogger,
    protocols: everyProtocol(),
    authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "ann" }),
    tools: [pay],
    files: extractFiles({ uploads: { store: "sessions", ttlMs: 10_000 } }),
    // Small, so that they are full early and the heap has a level.
    limits: { memoryBytes: 8 << 20, logBytes: 2 << 20, runLogMs: 1_000, toolTimeoutMs: 2_000 },
  },
);
const serving = await serve(handler, { port: 0, signals: false });
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.send!({ port: serving.port });

async function answer(question: string): Promise<void> {
  if (question === "close") {
    delay.disable();
    await serving.close({ drainMs: 0 });
    await settled(() => Object.keys(difference()).length === 0);
    process.send!({ resources: difference() }, () => process.exit(0));
    return;
  }
  // Until the connections of the load are closed and what they left has ended.
  await settled(async () => live === 0 && (await connections()) === 0);
  const gc = (globalThis as { gc?: () => void }).gc!;
  for (let round = 0; round < 3; round++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const p99 = delay.percentile(99) / 1e6;
  delay.reset();
  const { heapUsed } = process.memoryUsage();
  process.send!({ heapBytes: heapUsed, p99, runs: live, resources: countResources() });
}

// Not without end: what does not settle is in the sample.
async function settled(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 400 && !(await isSo()); turn++) await pause(25);
}

function connections(): Promise<number> {
  return new Promise((resolve) => serving.server.getConnections((_error, count) => resolve(count)));
}

function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** What there is more of than at the beginning. */
function difference(): Record<string, number> {
  const more = Object.entries(countResources()).map(([kind, count]): [string, number] => [
    kind,
    count - (before[kind] ?? 0),
  ]);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
}
