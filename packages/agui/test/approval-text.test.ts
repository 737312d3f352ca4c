import { HttpAgent } from "@ag-ui/client";
import { expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

// What `resolve` of CopilotKit's `useLangGraphInterrupt` sends: its type allows a text only.
test.for<[string, number]>([
  ['{"approved":true}', 1],
  ['{"approved":false}', 0],
  ['{"approved":"true"}', 0],
  ["true", 0],
  ["null", 0],
  ["yes", 0],
  ["", 0],
])("the text %j as an answer to an approval lets the tool run %i times", async ([text, times]) => {
  let runs = 0;
  const pay = {
    name: "pay",
    description: "Pays.",
    parameters: { type: "object" },
    needsApproval: true,
    invoke: () => {
      runs++;
      return "paid";
    },
  };
  const handler = createAgentHandler(
    async (_, { callTool }) => {
      await callTool("pay", {}).catch((error: { code?: string }) => {
        if (error.code === "halted") throw error;
      });
      return "Done.";
    },
    { tools: [pay], logger: memoryLogger() },
  );
  const agent = new HttpAgent({
    url: "http://test.local/agui",
    threadId: "t",
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  agent.addMessage({ id: "q", role: "user", content: "pay!" });
  let interruptId = "";
  await agent.runAgent(undefined, {
    onEvent({ event }) {
      const { outcome } = event as { outcome?: { interrupts?: { id: string }[] } };
      interruptId = outcome?.interrupts?.[0]?.id ?? interruptId;
    },
  });
  expect([runs, interruptId !== ""]).toEqual([0, true]);
  await agent.runAgent({ resume: [{ interruptId, status: "resolved", payload: text }] });
  expect(runs).toBe(times);
  expect(agent.messages.at(-1)?.content).toBe("Done.");
  await handler.close();
});
