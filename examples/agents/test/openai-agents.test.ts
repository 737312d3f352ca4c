import { HttpAgent } from "@ag-ui/client";
import { serve } from "@holodeck/agui-node";
import { setTracingDisabled } from "@openai/agents-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHandler } from "../openai-agents/agent.ts";

let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  setTracingDisabled(true);
  server = await serve(await createHandler(), { port: 0, signals: false });
});
afterAll(() => server.close());

function open(message: string): HttpAgent {
  const agent = new HttpAgent({ url: `${server.url}/agui` });
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: message });
  return agent;
}

test("answers", async () => {
  const agent = open("Hello");
  await agent.runAgent();
  expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "You wrote: Hello" });
});

test.for([
  { approved: true, answer: "Sent to ann@example.com." },
  { approved: false, answer: "Tool execution was not approved." },
])("asks before it sends a mail (approved: $approved)", async ({ approved, answer }) => {
  const agent = open("Write a mail.");
  const asked: { id: string }[] = [];
  await agent.runAgent(
    {},
    {
      onRunFinishedEvent({ event }) {
        const { outcome } = event as { outcome?: { interrupts?: { id: string }[] } };
        asked.push(...(outcome?.interrupts ?? []));
      },
    },
  );
  expect(asked).toHaveLength(1);
  const payload = { approved };
  await agent.runAgent({ resume: [{ interruptId: asked[0]!.id, status: "resolved", payload }] });
  expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: answer });
});

test("hands a poem over to a subagent", async () => {
  const agent = open("A poem, please.");
  const started: string[] = [];
  await agent.runAgent(
    {},
    {
      onEvent: ({ event }) =>
        void (event.type === "SUBAGENT_STARTED" && started.push(String(event.name))),
    },
  );
  expect(started).toEqual(["Poet"]);
  expect(agent.messages.at(-1)).toMatchObject({
    content: "Roses are red,\nand so is this thread.",
  });
});
