import { assertOptions, describeValue, unknownName } from "@holodeck/agui-core/internal";
import type { Awaitable, ServerTool } from "@holodeck/agui-core";
import { toMcpServerTool, toMcpToolName } from "./to-mcp-server-tool.ts";
import type { CallMcpTool, McpTool } from "./to-mcp-server-tool.ts";

/** As much of a connected `Client` of `@modelcontextprotocol/client` as is needed here. */
export interface McpClient {
  listTools(params?: never): Awaitable<{
    readonly tools: readonly McpTool[];
    readonly nextCursor?: string | undefined;
  }>;
  callTool(params: never, options?: never): Promise<unknown>;
}

export interface FromMcpOptions {
  /** Put before the name of each tool, for servers whose tools have the same names. By default nothing. */
  readonly prefix?: string;
  /** Names of the tools to take. By default all. */
  readonly allow?: readonly string[];
  /** Whether a user has to approve calls: all, or those of the tools that are named. By default none. */
  readonly needsApproval?: boolean | readonly string[];
}

const known = ["prefix", "allow", "needsApproval"];

/**
 * The tools of an MCP server as server tools of a handler, as the server lists them now. Progress is shown as an
 * activity, and what the server asks the user (elicitation) as an interrupt.
 *
 * @example
 * ```ts
 * const client = new Client({ name: "acme", version: "1.0.0" });
 * await client.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1:3000/mcp")));
 * createAgentHandler(agent, { tools: await fromMcp(client) });
 * ```
 */
export async function fromMcp(
  client: McpClient,
  options: FromMcpOptions = {},
): Promise<ServerTool[]> {
  if (typeof (client as Partial<McpClient> | null)?.listTools !== "function") {
    throw new TypeError(`fromMcp takes a connected client of MCP, not ${describeValue(client)}.`);
  }
  assertOptions("fromMcp", options, known);
  const { prefix = "", allow, needsApproval = false } = options;
  const tools = await listAll(client);
  const asked = typeof needsApproval === "boolean" ? [] : needsApproval;
  const names = tools.map(({ name }) => name);
  // A misspelt name would leave a tool out, or let it run without approval.
  for (const name of [...(allow ?? []), ...asked]) {
    if (!names.includes(name)) throw unknownName("a tool of the MCP server", name, names);
  }
  const call: CallMcpTool = (params, how) => client.callTool(params as never, how as never);
  return tools
    .filter(({ name }) => allow?.includes(name) ?? true)
    .map((tool) =>
      toMcpServerTool(tool, {
        name: toMcpToolName(`${prefix}${tool.name}`),
        needsApproval: needsApproval === true || asked.includes(tool.name),
        call,
      }),
    );
}

async function listAll(client: McpClient): Promise<readonly McpTool[]> {
  const all: McpTool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools((cursor === undefined ? undefined : { cursor }) as never);
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}
