import { Agent } from "@openai/agents-core";
import type { AdapterSetup } from "@holodeck/agui-testing/vitest";
import type { AgentFunction } from "@holodeck/agui-core";
import { fromOpenAIAgents } from "../../src/openai-agents/index.ts";
import { fakeModel, toTool } from "../openai-agents/_model.ts";
import type { Provider } from "../openai-agents/_model.ts";
import { testSubject } from "./_subject.ts";

const create =
  (provider: Provider) =>
  ({ model, tools }: AdapterSetup): AgentFunction =>
    fromOpenAIAgents(
      new Agent({
        name: "Assistant",
        model: fakeModel(model, provider),
        tools: tools.map(toTool),
      }),
    );

testSubject("fromOpenAIAgents with Responses", create("responses"));
testSubject("fromOpenAIAgents with chat completions", create("chat"));
