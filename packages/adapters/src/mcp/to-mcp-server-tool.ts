import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, ServerTool, ToolContext } from "@holodeck/agui-core";
import { askAbout, toInputResponses } from "./elicitation.ts";
import { toMcpResult } from "./to-mcp-result.ts";
import type { McpContentPart } from "./to-mcp-result.ts";

/** A tool as an MCP server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

export interface McpCallParams {
  readonly name: string;
  readonly arguments: Json;
  /** What the user has answered. */
  readonly inputResponses?: Json;
  readonly requestState?: string;
}

export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly allowInputRequired: true;
  readonly onprogress: (progress: Json) => void;
}

/** Calls a tool of an MCP server, like `client.callTool`. */
export type CallMcpTool = (params: McpCallParams, options: McpCallOptions) => Promise<unknown>;

export interface McpServerToolOptions {
  /** The name that models see. */
  readonly name: string;
  readonly needsApproval: boolean;
  readonly call: CallMcpTool;
  /** Receives results that are more than text. */
  readonly onMedia?: (toolCallId: string, parts: readonly McpContentPart[]) => void;
}

// The run's signal ends a call; the SDK's own bound is not to be there first.
const noTimeout = 2_147_483_647;

/** A tool of an MCP server as a server tool. */
export function toMcpServerTool(
  { name: own, title, description, inputSchema }: McpTool,
  { name, needsApproval, call, onMedia }: McpServerToolOptions,
): ServerTool {
  return {
    name,
    description: description ?? title ?? own,
    parameters: inputSchema,
    ...(needsApproval ? { needsApproval } : {}),
    async invoke(args, context) {
      const answered = toInputResponses(context);
      const params = { name: own, arguments: (args ?? {}) as Json, ...answered };
      const result = await call(params, {
        signal: context.signal,
        timeout: noTimeout,
        allowInputRequired: true,
        onprogress: (progress) => showProgress(name, progress, context),
      });
      if (isRecord(result) && result.resultType === "input_required") {
        throw askAbout(name, result, context);
      }
      const content = toMcpResult(name, isRecord(result) ? result : {});
      if (typeof content !== "string") onMedia?.(context.toolCallId, content);
      return content;
    },
  };
}

/** The name of a tool as models take it. */
export function toMcpToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

function showProgress(tool: string, reported: Json, { emit, toolCallId }: ToolContext): void {
  const { progress, total, message } = reported;
  const all = { tool, toolCallId, progress, total, message };
  const content = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  );
  emit.activity("mcp-progress", content, { id: `${toolCallId}-progress` });
}
