import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, ServerTool } from "@holodeck/agui-core";
import { runAgent } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import { fromMcp } from "../../src/mcp/index.ts";
import { eventsOf, post } from "../_helpers.ts";
import { connectClient } from "./_server.ts";

const calling =
  (name: string, args: object = {}): AgentFunction =>
  async (_input, { callTool }) =>
    String(await callTool(name, args));

test("lists the tools of a server, under names that models take", async () => {
  const { client } = await connectClient();
  const tools = await fromMcp(client, { prefix: "shop:", needsApproval: ["order"] });
  expect(tools.map(({ name }) => name)).toEqual([
    "shop_add_up",
    "shop_fail",
    "shop_draw",
    "shop_count",
    "shop_order",
  ]);
  expect(tools[0]).toMatchObject({
    description: "Adds two numbers.",
    parameters: { type: "object", required: ["a", "b"] },
  });
  expect(tools.flatMap(({ name, needsApproval }) => (needsApproval ? name : []))).toEqual([
    "shop_order",
  ]);
  const some = await fromMcp(client, { allow: ["draw"] });
  expect(some.map(({ name }) => name)).toEqual(["draw"]);
});

test("calls a tool, and sends the call and its result", async () => {
  const { client } = await connectClient();
  const tools = await fromMcp(client);
  const run = await runAgent(calling("add_up", { a: 1, b: 2 }), { tools });
  expect(run.error).toBeUndefined();
  expect(run.toolCalls).toMatchObject([
    { name: "add_up", args: { a: 1, b: 2 }, result: "The sum is 3." },
  ]);
});

test("passes on why the server refuses, and media as parts", async () => {
  const { client } = await connectClient();
  const tools = await fromMcp(client);
  const agent: AgentFunction = async (_input, { callTools }) => {
    await callTools([
      { name: "fail", args: {} },
      { name: "draw", args: {} },
    ]);
  };
  const run = await runAgent(agent, { tools });
  const [fail, draw] = run.toolCalls;
  expect(JSON.parse(fail!.result as string)).toMatchObject({
    error: { code: "tool-error", message: "There is no paper." },
  });
  const source = { type: "data", value: "aGVsbG8=", mimeType: "image/png" };
  expect(draw!.result).toEqual([{ type: "image", source }]);
});

test("shows progress as one activity", async () => {
  const { client } = await connectClient();
  const run = await runAgent(calling("count"), { tools: await fromMcp(client) });
  expect(run.error).toBeUndefined();
  expect(run.toolCalls).toMatchObject([{ result: "Counted." }]);
  const shown = run.events.filter(({ type }) => type === "ACTIVITY_SNAPSHOT");
  expect(shown.map(({ content }) => content)).toMatchObject([
    { tool: "count", progress: 1, total: 2, message: "Step 1" },
    { tool: "count", progress: 2, total: 2, message: "Step 2" },
  ]);
  expect(run.activities).toMatchObject([{ type: "mcp-progress", content: { progress: 2 } }]);
});

/** Two processes on one store: the first asks, the second receives the answer. */
async function ask(tools: ServerTool[], elsewhere: ServerTool[]) {
  const agent: AgentFunction = async (input, { callTool }) => {
    const last = input.messages.at(-1);
    if (last?.role === "tool") return last.content;
    return String(await callTool("order", { dish: "pizza" }));
  };
  const settings = { logger: silentLogger, strict: true };
  const one = createAgentHandler(agent, { ...settings, tools });
  const two = createAgentHandler(agent, { ...settings, tools: elsewhere, sessions: one.sessions });
  const user = { id: "u", role: "user", content: "A pizza." };
  const first = await eventsOf(await one.fetch(post({ protocolVersion: "1.0", messages: [user] })));
  const { outcome } = first.at(-1) as unknown as { outcome: { interrupts: { id: string }[] } };
  const [question] = outcome.interrupts;
  return {
    first,
    question: question!,
    async answer(payload: object) {
      const { messages } = (await one.sessions.get({ principal: "", threadId: "t" }))!;
      const resume = [{ interruptId: question!.id, status: "resolved", payload }];
      return eventsOf(await two.fetch(post({ runId: "r2", messages, resume })));
    },
  };
}

test("asks the user what the server needs, and another process passes the answer on", async () => {
  const { client, orders } = await connectClient();
  const other = await connectClient();
  const talk = await ask(await fromMcp(client), await fromMcp(other.client));
  expect(talk.question).toMatchObject({
    reason: "tool_call",
    message: "Which size for pizza?",
    responseSchema: { properties: { content: { required: ["size"] } } },
  });
  expect(JSON.stringify(talk.first)).not.toContain("state-of-the-shop");
  const second = await talk.answer({ approved: true, content: { size: "Large" } });
  expect(JSON.stringify(second)).toContain("Large pizza is on its way.");
  expect(second.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(orders).toEqual([]);
  expect(other.orders).toEqual([{ dish: "pizza", size: "Large", state: "state-of-the-shop" }]);
});

test("does not call again when the user declines", async () => {
  const { client, orders } = await connectClient();
  const tools = await fromMcp(client);
  const talk = await ask(tools, tools);
  const second = await talk.answer({ approved: false });
  expect(JSON.stringify(second)).toContain("approval-denied");
  expect(orders).toEqual([]);
});

test("a stop ends a call", async () => {
  const aborted: unknown[] = [];
  const stop = new AbortController();
  const client = {
    listTools: async () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
    callTool: (_params: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(signal.reason);
          reject(signal.reason as Error);
        });
        stop.abort();
      }),
  };
  const tools = await fromMcp(client as never);
  const run = await runAgent(calling("wait"), { tools, signal: stop.signal });
  expect(run.outcome).toMatchObject({ type: "cancelled" });
  expect(aborted).toHaveLength(1);
});

test("names what it takes when it gets something else", async () => {
  await expect(fromMcp({} as never)).rejects.toThrow("fromMcp takes a connected client");
  const { client } = await connectClient();
  await expect(fromMcp(client, { allow: ["drow"] })).rejects.toThrow("draw");
  await expect(fromMcp(client, { alow: [] } as never)).rejects.toThrow("Did you mean allow?");
});
