import { HttpAgent } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentEvent, AgentFunction, AgentHandler } from "@holodeck/agui";
import { toNodeHandler } from "@holodeck/agui-node";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createToolLoopAgent, defineTool } from "../src/index.ts";

const execute = vi.fn(({ amount }: { amount: number }) => `paid ${amount}`);
const pay = defineTool({
  name: "pay",
  description: "Pays an amount of money.",
  parameters: z.object({ amount: z.number() }),
  needsApproval: true,
  execute,
});

/** Calls the tool of that name once per turn, and then says what came of it. */
const caller = (name: string, args: object): Record<string, AgentFunction | object> => ({
  [`${name}_by_hand`]: async (_input: unknown, { callTool }: any) =>
    `It said: ${String(await callTool(name, args).catch(rethrowHalt))}`,
  [`${name}_by_model`]: createToolLoopAgent({
    generate: ({ messages, runId }): (AgentEvent | string)[] => {
      const last = messages.at(-1);
      if (last?.role === "tool") return [`It said: ${last.content as string}`];
      const toolCallId = `call-${runId}`;
      return [
        { type: "TOOL_CALL_START", toolCallId, toolCallName: name },
        { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) },
        { type: "TOOL_CALL_END", toolCallId },
      ];
    },
  }),
});

function rethrowHalt(error: any): string {
  if (error.code === "halted") throw error;
  return `${error.code}: ${error.message}`;
}

let server: Server;
let url: string;
let handler: AgentHandler;
beforeAll(async () => {
  const agents = { ...caller("pick", { from: ["red", "blue"] }), ...caller("pay", { amount: 50 }) };
  handler = createAgentHandler(agents as Record<string, AgentFunction>, {
    tools: [pay],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  server = createServer(toNodeHandler(handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agui`;
});
afterAll(async () => {
  await handler.close();
  server.close();
  server.closeAllConnections();
});

const clients = [
  { name: "@ag-ui/client 1.0.0", Client: HttpAgent, speaks1: true },
  // Another copy of the class; what is used of it here is the same.
  {
    name: "@ag-ui/client 0.0.59",
    Client: HttpAgent0 as unknown as typeof HttpAgent,
    speaks1: false,
  },
];

const cases = clients.flatMap((client) => ["hand", "model"].map((by) => ({ ...client, by })));

describe.for(cases)("$name and an agent by $by", ({ Client, speaks1, by }) => {
  function talk(agentId: string) {
    const agent = new Client({
      url,
      fetch: (address: string, init: RequestInit) =>
        fetch(address, {
          ...init,
          body: JSON.stringify({ ...(JSON.parse(init.body as string) as object), agentId }),
        }),
    });
    agent.addMessage({ id: "u", role: "user", content: "Go!" });
    const run = async (parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) => {
      const events: any[] = [];
      const tools = [{ name: "pick", description: "Picks.", parameters: { type: "object" } }];
      const subscriber = { onEvent: ({ event }: { event: unknown }) => void events.push(event) };
      await agent.runAgent({ tools, ...parameters }, subscriber);
      return events;
    };
    return { agent, run };
  }

  test("run a tool of the client's, over two runs", async () => {
    const { agent, run } = talk(`pick_by_${by}`);
    const asked = await run();
    const call = agent.messages.at(-1) as any;
    const [{ id, function: made }] = call.toolCalls;
    expect(JSON.parse(made.arguments)).toEqual({ from: ["red", "blue"] });
    expect(asked.at(-1).outcome).toEqual(
      speaks1 ? { type: "success", pendingToolCallIds: [id] } : undefined,
    );
    agent.addMessage({ id: "t", role: "tool", toolCallId: id, content: "red" });
    await run();
    expect(agent.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(agent.messages.at(-1)?.content).toBe("It said: red");
  });

  test.for([
    ["a yes", { approved: true }, "It said: paid 50", 1],
    ["a no", { approved: false, reason: "Too much." }, "Too much.", 0],
  ] as const)("ask for approval, and take %s", async ([, payload, words, times]) => {
    execute.mockClear();
    const { agent, run } = talk(`pay_by_${by}`);
    const asked = await run();
    const [interrupt] = asked.at(-1).outcome.interrupts;
    const [{ id }] = (agent.messages.at(-1) as any).toolCalls;
    expect(interrupt).toMatchObject({ reason: "tool_call", toolCallId: id });
    expect(execute).not.toHaveBeenCalled();
    const resume = [{ interruptId: interrupt.id, status: "resolved" as const, payload }];
    await run({ resume });
    expect(agent.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(agent.messages.at(-2)).toMatchObject({ role: "tool", toolCallId: id });
    expect(agent.messages.at(-1)?.content).toContain(words);
    expect(execute).toHaveBeenCalledTimes(times);
    // The answer is worth nothing a second time, as the client says on the console, too.
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    agent.addMessage({ id: "u2", role: "user", content: "Again!" });
    await expect(run({ resume })).rejects.toThrow("unknown-interrupt");
    said.mockRestore();
    expect(execute).toHaveBeenCalledTimes(times);
  });
});
