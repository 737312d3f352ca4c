import { expect, test } from "vitest";
import * as agUi from "../src/ag-ui/index.ts";
import * as aiSdk from "../src/ai-sdk/index.ts";
import * as langGraph from "../src/langgraph/index.ts";
import * as mcp from "../src/mcp/index.ts";
import * as openai from "../src/openai/index.ts";
import * as openaiAgents from "../src/openai-agents/index.ts";

test("exports these names and no others", () => {
  const all = { agUi, aiSdk, langGraph, mcp, openai, openaiAgents };
  const names = Object.entries(all).map(([path, exported]) => [path, Object.keys(exported).sort()]);
  expect(Object.fromEntries(names)).toEqual({
    agUi: ["fromAbstractAgent"],
    aiSdk: ["fromAiSdk", "toAiSdkMessages", "toAiSdkTools"],
    langGraph: ["fromLangGraph", "toLangChainMessages"],
    mcp: ["fromMcp", "toMcpServerTool", "toMcpToolName"],
    openai: [
      "fromOpenAI",
      "toOpenAIMessages",
      "toOpenAITools",
      "toResponseInput",
      "toResponseTools",
    ],
    openaiAgents: ["fromOpenAIAgents", "toOpenAIAgentsInput"],
  });
});
