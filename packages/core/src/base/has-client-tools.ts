import type { ServerTool } from "../contract/tools.ts";

/** Whether some of the tools that the server declares run in the client. Most servers have none. */
export function hasClientTools(tools: readonly ServerTool[]): boolean {
  for (const { location } of tools) if (location === "client") return true;
  return false;
}
