import { createToolLoopAgent, defineTool } from "@holodeck/agui-tools";
import type { AgentLike, AgentObject, ServerTool } from "@holodeck/agui-core";
import type { AdapterTool } from "@holodeck/agui-testing/vitest";

/** A model's answers in the tool loop, with the tools of the suite. */
export function loopOf(generate: AgentLike, tools: readonly AdapterTool[]): AgentObject {
  return createToolLoopAgent({ generate, tools: tools.map(toServerTool) });
}

function toServerTool(tool: AdapterTool): ServerTool {
  const { name, description, parameters, needsApproval, execute } = tool;
  return defineTool({
    name,
    description,
    parameters,
    needsApproval,
    execute: (args: unknown, { signal }) => execute(args, signal),
  });
}
