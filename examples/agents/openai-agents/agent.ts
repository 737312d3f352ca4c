import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import { fromOpenAIAgents } from "@holodeck/agui-adapters/openai-agents";
import { Agent, tool } from "@openai/agents-core";
import { OpenAIProvider } from "@openai/agents-openai";
import { z } from "zod";
import { fakeModel } from "./fake-model.ts";

const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail. Ask for one thing at a time.",
  parameters: z.object({ to: z.string(), text: z.string() }),
  needsApproval: true,
  execute: ({ to }) => `Sent to ${to}.`,
});

/** With a key the real model answers, otherwise a fake one. */
export async function createHandler(apiKey?: string): Promise<AgentHandler> {
  const model = apiKey ? await new OpenAIProvider({ apiKey }).getModel("gpt-5") : fakeModel;
  const poet = new Agent({
    name: "Poet",
    model,
    instructions: "Answer with two lines of verse.",
  });
  const assistant = new Agent({
    name: "Assistant",
    model,
    instructions: "Be brief. Hand poems over to the poet.",
    tools: [sendMail],
    handoffs: [poet],
  });
  return createAgentHandler(fromOpenAIAgents(assistant));
}
