export { fromMcp } from "./from-mcp.ts";
export type { FromMcpOptions, McpClient } from "./from-mcp.ts";
export { toMcpServerTool, toMcpToolName } from "./to-mcp-server-tool.ts";
export type { CallMcpTool, McpCallOptions, McpCallParams, McpTool } from "./to-mcp-server-tool.ts";
export type { McpContentPart } from "./to-mcp-result.ts";
