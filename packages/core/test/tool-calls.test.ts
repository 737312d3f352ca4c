import { fakeClock, mockSink, runAgent } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import { defaultLimits, isAgentError } from "../src/index.ts";
import { createTicker, LiveRun } from "../src/internal.ts";
import type { AgentFunction, ServerTool } from "../src/index.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const codeOf =
  (name: string): AgentFunction =>
  async (_input, { callTool }) => {
    try {
      await callTool(name, {});
    } catch (error) {
      return isAgentError(error) ? error.code : "unexpected";
    }
    return "no failure";
  };

test("an unknown tool is an error for the agent, and nothing for the client", async () => {
  const { text, toolCalls, error } = await runAgent(codeOf("wether"), { tools: [] });
  expect([text, toolCalls, error]).toEqual(["unknown-tool", [], undefined]);
});

test.for<[number, object]>([
  [30_000, {}],
  [1_000, { timeoutMs: 1_000 }],
])("a tool is given up after %d ms, its own time or 30 seconds", async ([ms, own]) => {
  const clock = fakeClock();
  const slow: ServerTool = {
    name: "slow",
    description: "Never answers.",
    parameters: { type: "object" },
    invoke: () => new Promise(() => {}),
    ...own,
  };
  const run = new LiveRun(
    {
      agent: codeOf("slow"),
      input: { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} },
      middleware: [],
      context: { threadId: "t", runId: "r", tools: [slow] },
    },
    {
      limits: { ...defaultLimits, stallMs: 60_000 },
      clock,
      ticker: createTicker(clock, 10),
      logger: quiet,
      heartbeatMs: 15_000,
      onDisconnect: "abort",
      debug: false,
      strict: false,
    },
  );
  const sink = mockSink();
  run.follow(sink.encoder, sink);
  await clock.advance(ms - 1);
  expect(sink.toolCalls[0]?.result).toBeUndefined();
  await clock.advance(1);
  await run.done;
  expect(sink.text).toBe("timeout");
  expect(sink.toolCalls[0]?.result).toContain(`took longer than ${ms} ms`);
});
