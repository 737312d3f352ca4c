import type { ServerTool } from "@holodeck/agui-core";

/** A server tool with a fixed result, and the arguments that it was called with. */
export function defineTestTool(
  name: string,
  result: unknown,
  options: Partial<ServerTool> = {},
): { readonly tool: ServerTool; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const tool: ServerTool = {
    name,
    description: name,
    parameters: { type: "object" },
    ...options,
    invoke(args) {
      calls.push(args);
      return result;
    },
  };
  return { tool, calls };
}
