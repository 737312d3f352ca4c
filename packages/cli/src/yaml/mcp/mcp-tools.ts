import { unknownName } from "@holodeck/agui-core/internal";
import type { ServerTool } from "@holodeck/agui-core";
import { toMcpServerTool, toMcpToolName } from "@holodeck/agui-adapters/mcp";
import type { McpContentPart } from "@holodeck/agui-adapters/mcp";
import { createMcpServer } from "./mcp-server.ts";
import type { McpServer, McpTarget } from "./mcp-server.ts";

/** A server, and the settings for its tools in the file. */
export interface McpEntry {
  readonly target: McpTarget;
  readonly allow: readonly string[] | undefined;
  readonly approval: boolean | readonly string[];
}

/** The tools of all MCP servers of a file. */
export interface McpTools {
  /** Connects those that are not. Rejects with what is wrong with any of them. */
  connect(): Promise<void>;
  /** The current tools. `onMedia` receives results that are more than text. */
  list(onMedia: (toolCallId: string, parts: readonly McpContentPart[]) => void): ServerTool[];
  close(): Promise<void>;
}

/** No name of `taken` is given to a tool of a server. */
export function createMcpTools(entries: readonly McpEntry[], taken: readonly string[]): McpTools {
  const servers = entries.map((entry) => ({ ...entry, server: createMcpServer(entry.target) }));

  return {
    async connect() {
      await Promise.all(
        servers.map(async ({ server, allow = [], approval }) => {
          await server.connect();
          const asked = Array.isArray(approval) ? (approval as readonly string[]) : [];
          // A misspelt name would leave a tool out, or let it run without being asked about.
          assertKnown(server, [...allow, ...asked]);
        }),
      );
    },
    list(onMedia) {
      const found = servers.flatMap(({ server, allow, approval }) =>
        server.tools
          .filter(({ name }) => allow?.includes(name) ?? true)
          .map((tool) => ({ server, tool, needsApproval: isAsked(approval, tool.name) })),
      );
      const names = found.map(({ tool }) => toMcpToolName(tool.name));
      const used = new Set(taken);
      return found.map(({ server, tool, needsApproval }, index): ServerTool => {
        const own = names[index]!;
        const isShared = taken.includes(own) || names.filter((name) => name === own).length > 1;
        const name = unused(isShared ? toMcpToolName(`${server.name}_${own}`) : own, used);
        used.add(name);
        return toMcpServerTool(tool, { name, needsApproval, call: server.call, onMedia });
      });
    },
    async close() {
      await Promise.all(servers.map(({ server }) => server.close()));
    },
  };
}

function assertKnown({ name: server, tools }: McpServer, wanted: readonly string[]): void {
  const known = tools.map(({ name }) => name);
  for (const name of wanted) {
    if (!known.includes(name))
      throw unknownName(`a tool of the MCP server "${server}"`, name, known);
  }
}

function isAsked(approval: boolean | readonly string[], name: string): boolean {
  return typeof approval === "boolean" ? approval : approval.includes(name);
}

function unused(name: string, used: ReadonlySet<string>): string {
  let candidate = name;
  for (let count = 2; used.has(candidate); count++) candidate = `${name.slice(0, 60)}_${count}`;
  return candidate;
}
