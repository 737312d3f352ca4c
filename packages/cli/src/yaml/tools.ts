import type { ServerTool } from "@holodeck/agui-core";
import { importModule } from "../modules/import-module.ts";
import type { ImportedModule } from "../modules/import-module.ts";
import type { Environment } from "./environment.ts";
import { toClientTool, toFunctionTool } from "./function-tool.ts";
import { toMcpEntry } from "./mcp/mcp-entry.ts";
import type { McpEntry } from "./mcp/mcp-tools.ts";
import { parseMost } from "./faults/parse-most.ts";
import type { FileReport } from "./faults/report.ts";
import { toolSchema } from "./schema/schema-tools.ts";

export interface FileTools {
  /** Functions of modules, and what the client runs. */
  readonly own: readonly ServerTool[];
  readonly mcp: readonly McpEntry[];
  /** The modules, and what they import. */
  readonly files: readonly string[];
}

export interface ToolsPlace {
  readonly folder: string;
  readonly environment: Environment;
  readonly report: FileReport;
}

/** The tools that a file names. What is wrong with any of them is reported. */
export async function toTools(items: unknown, place: ToolsPlace): Promise<FileTools> {
  const own: ServerTool[] = [];
  const mcp: McpEntry[] = [];
  const files = new Set<string>();
  const importOnce = createImporter();
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  findTwins(list, place.report);
  for (const [index, item] of list.entries()) {
    const config = parseMost(toolSchema, item, ["parameters", "approval", "allow", "timeout"]);
    if (!config) continue;
    const at = { ...place, path: ["tools", index], importModule: importOnce };
    if (config.type === "mcp") {
      const entry = toMcpEntry(config, at);
      if (entry) mcp.push(entry);
      continue;
    }
    const made =
      config.type === "client"
        ? { tool: toClientTool(config, at), files: [] }
        : await toFunctionTool(config, at);
    if (made.tool) own.push(made.tool);
    for (const file of made.files) files.add(file);
  }
  return { own, mcp, files: [...files] };
}

function createImporter(): (file: string) => Promise<ImportedModule> {
  const modules = new Map<string, Promise<ImportedModule>>();
  return (file) => {
    const module = modules.get(file) ?? importModule(file);
    modules.set(file, module);
    return module;
  };
}

function findTwins(items: readonly unknown[], report: FileReport): void {
  const first = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const { name } = (item ?? {}) as { name?: unknown };
    if (typeof name !== "string") continue;
    const twin = first.get(name);
    if (twin === undefined) first.set(name, index);
    else {
      report.add(
        ["tools", index, "name"],
        `"${name}" is also the name of tools[${twin}]; tool names must be unique.`,
      );
    }
  }
}
