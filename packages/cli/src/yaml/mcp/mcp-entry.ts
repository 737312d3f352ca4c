import type { Environment } from "../environment.ts";
import type { McpEntry } from "./mcp-tools.ts";
import type { Path, FileReport } from "../faults/report.ts";
import type { McpConfig } from "../schema/schema-tools.ts";

export interface McpPlace {
  readonly path: Path;
  readonly folder: string;
  readonly environment: Environment;
  readonly report: FileReport;
}

/** How the server of a file is reached. What is wrong with it is reported. */
export function toMcpEntry(config: McpConfig, place: McpPlace): McpEntry | undefined {
  const { name, command, url, timeout = 30, allow, approval = false } = config;
  const { path, report } = place;
  const transport = config.transport ?? (url === undefined ? "stdio" : "http");
  const [wanted, others] =
    transport === "stdio"
      ? ["command", ["url", "headers"] as const]
      : ["url", ["command", "args", "env"] as const];
  for (const key of others) {
    if (config[key] === undefined) continue;
    report.add([...path, key], `"${key}" is not for a server over ${transport}; leave it out.`);
  }
  if ((transport === "stdio" ? command : url) === undefined) {
    const example = transport === "stdio" ? "command: npx" : "url: http://127.0.0.1:3000/mcp";
    report.add(path, `${wanted} is missing for a server over ${transport}, like "${example}".`);
    return undefined;
  }
  const common = { name, timeoutMs: timeout * 1000 };
  const target =
    transport === "http"
      ? { ...common, url: toUrl(url!, place), headers: toHeaders(config, place) }
      : { ...common, command: command!, ...toProgram(config, place), folder: place.folder };
  return { target, allow, approval };
}

function toUrl(given: string, { path, environment, report }: McpPlace): string {
  const at = [...path, "url"];
  const url = environment.expand(given, at);
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    report.add(at, 'url must be an address over http, like "http://127.0.0.1:3000/mcp".');
  }
  return url;
}

function toHeaders(
  { headers = {} }: McpConfig,
  { path, environment }: McpPlace,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      environment.expand(value, [...path, "headers", name]),
    ]),
  );
}

function toProgram(
  { args = [], env = [] }: McpConfig,
  { path, environment }: McpPlace,
): { args: string[]; env: Record<string, string> } {
  const isList = Array.isArray(env);
  const variables = isList
    ? (env as readonly string[]).map((name, index) => [
        name,
        environment.need(name, [...path, "env", index]),
      ])
    : Object.entries(env as Record<string, string>).map(([name, value]) => [
        name,
        environment.expand(value, [...path, "env", name]),
      ]);
  return {
    args: args.map((arg, index) => environment.expand(arg, [...path, "args", index])),
    env: Object.fromEntries(variables) as Record<string, string>,
  };
}
