import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpAgent } from "@ag-ui/client";
import { toNodeHandler } from "@holodeck/agui-node";
import { HttpAgent as HttpAgent59 } from "ag-ui-client-0";
import { HttpAgent as HttpAgent47 } from "ag-ui-client-0-47";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const tools = [
  { name: "locate", description: "Locates the user.", parameters: { type: "object" } },
];
const handler = createAgentHandler(
  async ({ messages, forwardedProps }, { emit }) => {
    const result = messages.findLast(({ role }) => role === "tool");
    if (forwardedProps === "ask") return void emit.interrupt({ reason: "confirmation" });
    if (result === undefined) emit.toolCall("locate", {});
    else await emit.text(`You are in ${JSON.stringify(result.content)}.`);
  },
  { logger: memoryLogger() },
);
const server = createServer(toNodeHandler(handler));
let url = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agui`;
});
afterAll(async () => {
  await handler.close();
  server.close();
  server.closeAllConnections();
});

// Other copies of the same class; for what is used here the types are the same.
const clients: [string, typeof HttpAgent, boolean][] = [
  ["1.0.0", HttpAgent, true],
  ["0.0.59", Object(HttpAgent59) as typeof HttpAgent, false],
  ["0.0.47", Object(HttpAgent47) as typeof HttpAgent, false],
];

describe.for(clients)("HttpAgent %s", ([version, Client, isCurrent]) => {
  const start = (name: string) =>
    new Client({
      url,
      threadId: `${name}-${version}`,
      initialMessages: [{ id: "u-1", role: "user", content: "Where am I?" }],
    });
  const run = async (agent: HttpAgent, input: object): Promise<Record<string, unknown>> => {
    let end: Record<string, unknown> = {};
    await agent.runAgent(input, {
      onEvent: ({ event }) => void (event.type === "RUN_FINISHED" && (end = { ...event })),
    });
    return end;
  };

  test("runs a tool of the page, and the agent receives its result", async () => {
    const agent = start("tool");
    const first = await run(agent, { tools });
    const [call] = (agent.messages.at(-1) as { toolCalls: { id: string }[] }).toolCalls;
    expect(first.outcome).toEqual(
      isCurrent ? { type: "success", pendingToolCallIds: [call!.id] } : undefined,
    );
    agent.addMessage({ id: "r-1", role: "tool", toolCallId: call!.id, content: "Rome" });
    await run(agent, { tools });
    expect(agent.messages.at(-1)).toMatchObject({ content: 'You are in "Rome".' });
  });

  // Clients up to 0.0.47 know no outcome; they pass over it.
  test("receives the interrupts that a run ends with", async () => {
    const end = await run(start("interrupt"), { forwardedProps: "ask" });
    const outcome = { type: "interrupt", interrupts: [{ reason: "confirmation" }] };
    expect(end).toMatchObject({
      type: "RUN_FINISHED",
      ...(version === "0.0.47" ? {} : { outcome }),
    });
  });
});
